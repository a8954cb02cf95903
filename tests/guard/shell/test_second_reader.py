"""What tree-sitter's grammar reads, beside our own reader."""

import pytest

from hob.guard.shell import Analysis, Finding, Severity, analyse, judge_command, severity
from hob.guard.shell.second_reader import find_unseen
from tests.guard.shell.catalogue import benign, hostile


@pytest.mark.parametrize("text", ["ls | grep x", "a=$(date); echo $a", "if true; then make; fi", "f() { rm x; }; f"])
def test_it_names_the_programs_of_a_text(text: str) -> None:
    names = {name for each in analyse(text).commands for name in (each.name, *each.argv[:1])}
    assert find_unseen(text, {*names, "f"}) == ""
    assert find_unseen(text, ()) in {*names, "f"}


def test_what_only_it_sees_is_not_plain(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = analyse("ls")
    assert severity(judged(plain)) is Severity.PLAIN
    monkeypatch.setattr("hob.guard.shell.analysis.find_unseen", lambda text, seen: "curl")
    assert severity(judged(analyse("ls"))) is Severity.ASK


def test_both_readers_see_the_same_in_what_developers_and_attackers_write() -> None:
    texts = [*benign(), *(each.text for each in hostile())]
    told = [text for text in texts if any("another reader" in each.reason for each in analyse(text).problems)]
    # the grammar does not join a word that goes on in the next line; what stands in an index is a problem for us anyway
    assert told == ["r\\\nm -rf \\\n/", "x[$(rm -rf /)]=1"]


def judged(analysis: Analysis) -> tuple[Finding, ...]:
    return judge_command(analysis, cwd="/w", workspace="/w")
