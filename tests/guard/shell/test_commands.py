"""Attackers' commands need approval or are refused; developers' daily commands are not questioned."""

import pytest

from hob.guard.shell.command_context import ShellSeverity
from tests.guard.shell.catalogue import Hostile, benign, hostile, judge, verdict


@pytest.mark.parametrize("command", hostile(), ids=lambda command: command.text[:60])
def test_hostile_command_is_found_by_its_rule(command: Hostile) -> None:
    findings = judge(command.text)
    assert any(each.rule == command.rule and each.severity >= command.expect for each in findings), findings


def test_catalogue_is_large_enough_without_duplicates() -> None:
    assert len({command.text for command in hostile()}) == len(hostile()) >= 170
    assert len(set(benign())) == len(benign()) >= 170


def test_at_most_two_percent_of_daily_commands_need_approval() -> None:
    asked = {
        text: found for text in benign() if (found := [f for f in judge(text) if f.severity > ShellSeverity.PLAIN])
    }
    assert len(asked) <= 0.02 * len(benign()), asked


def test_no_daily_command_is_refused() -> None:
    assert [text for text in benign() if verdict(text) is ShellSeverity.REFUSE] == []


@pytest.mark.parametrize("command", hostile(), ids=lambda command: command.text[:60])
def test_reason_names_a_piece_of_the_command(command: Hostile) -> None:
    for finding in judge(command.text):
        assert finding.reason
        assert finding.rule.replace("-", "").isalpha()
        assert len(finding.text) <= len(command.text) + 200
