"""`hob policy explain`: its output about a call."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from hob.cli.table import run
from hob.cli.trust.policy import explain_call
from hob.core.errors import InvalidRequest
from hob.core.trust.labels import SenderClass
from hob.guard.policy.hypothetical_calls import GuardSetup, HypotheticalTurn
from hob.guard.policy.modes import Autonomy, Mode
from hob.tools.mcp.accepted import AcceptedServer, AcceptedTool, save_accepted
from tests.confined import BACKEND
from tests.guard.calling import POLICY, READER, SPECS

GUARDING = GuardSetup(POLICY, READER, tuple(SPECS.values()))


def test_explanation_starts_with_the_verdict_then_reasons_and_stages(capsys: pytest.CaptureFixture[str]) -> None:
    supposed = HypotheticalTurn(tainted=True, words="write a summary to bob@example.com")
    explain_call(GUARDING, "mail_send", '{"to": "eve@evil.example", "body": "x"}', supposed)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("needs your approval: What could send data out needs approval")
    assert "taint" not in lines[0]  # --json has the name of the rule
    assert lines[1] == "  because it could send data out, and your own words do not name where to"
    assert lines[2] == "effects: it would send something to somebody"
    assert lines[3] == "risk of the call itself: high (it can do harm); the verdict above takes it into account"
    assert "  text that is not yours was read               needs your approval" in lines
    assert lines[-2:] == ["you can allow it once", "judged in permission mode guarded, autonomy cautious"]


def test_command_with_network_is_not_also_called_one_without(capsys: pytest.CaptureFixture[str]) -> None:
    explain_call(GUARDING, "exec", '{"command": "curl https://pypi.org", "network": ["pypi.org"]}', HypotheticalTurn())
    (effects,) = [line for line in capsys.readouterr().out.splitlines() if line.startswith("effects:")]
    assert effects == (
        "effects: it would read files and pages that you opened to tools; it would run a command that reaches other "
        "computers; its changes to files can be undone"
    )


def test_call_that_cannot_be_read_is_refused_with_one_reason_and_no_table(capsys: pytest.CaptureFixture[str]) -> None:
    explain_call(GUARDING, "nope", "foo", HypotheticalTurn())
    told = capsys.readouterr().out
    assert told.startswith("refused: The arguments are not a JSON object.\njudged in permission mode")
    assert "there is no tool nope here" in told


def test_explanation_says_that_file_tools_check_paths_themselves(capsys: pytest.CaptureFixture[str]) -> None:
    """An allowed write to /etc was told as if it would happen."""
    explain_call(GUARDING, "write", '{"path": "/etc/nothing", "content": "x"}', HypotheticalTurn(mode=Mode.FULL))
    assert capsys.readouterr().out.splitlines()[-1].endswith("is refused by the tool itself; `hob tools test` tells")


def test_risk_of_an_allowed_call_is_shown_apart_from_the_verdict(capsys: pytest.CaptureFixture[str]) -> None:
    # "In short: it is risky" under "allowed" read as a second verdict
    words = HypotheticalTurn(words="mail bob@example.com")
    explain_call(GUARDING, "mail_send", '{"to": "bob@example.com", "body": "x"}', words)
    first, *rest = capsys.readouterr().out.splitlines()
    assert first.startswith("allowed: ")
    assert "risk of the call itself: high (it can do harm); the verdict above takes it into account" in rest


def test_tool_of_a_server_is_judged_as_the_owner_accepted_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    schema = {"type": "object", "properties": {"name": {"type": "string"}}}
    reading = AcceptedTool("get_note", "Read a note.", schema, "h", 0, ("reads_private",), {"plain": ("name",)})
    (tmp_path / "config.toml").write_text('[mcp.notes]\ncommand = ["no-such-program"]\n')
    save_accepted(tmp_path, AcceptedServer("notes", tools=(reading,)))
    monkeypatch.setenv("HOB_HOME", str(tmp_path))
    assert run(["policy", "explain", "notes__get_note", '{"name": "tea"}']) == 0
    said = capsys.readouterr().out
    assert said.startswith("allowed: ")
    assert "risk of the call itself: low (it only reads)" in said
    assert "there is no tool" not in said


@pytest.mark.parametrize("tool", ["gateway", "gateway_set"])
def test_tools_that_need_a_daemon_are_explained_without_one(
    tool: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HOB_HOME", str(tmp_path))
    arguments = {"gateway": '{"action": "status"}', "gateway_set": '{"name": "agent.language", "value": "de"}'}
    assert run(["policy", "explain", tool, arguments[tool]]) == 0
    said = capsys.readouterr().out
    assert "there is no tool" not in said
    assert ("it would set agent.language to de" in said) is (tool == "gateway_set")


@pytest.mark.parametrize(
    ("tool", "text", "supposed", "said"),
    [
        ("exec", "git status", HypotheticalTurn(), "allowed: "),
        ("exec", "git status", HypotheticalTurn(mode=Mode.READ_ONLY), "refused: "),
        ("exec", "git reset --hard", HypotheticalTurn(), "needs your approval: "),
        ("exec", "git reset --hard", HypotheticalTurn(unattended=True), "refused: No one could be asked"),
        ("exec", "rm -rf /", HypotheticalTurn(mode=Mode.FULL), "refused: Commands that destroy disks"),
        ("read", "notes.md", HypotheticalTurn(sender=SenderClass.STRANGER), "refused: "),
        (
            "read",
            "notes.md",
            HypotheticalTurn(group=True),
            "needs your approval: Private content of the owner is not read",
        ),
        ("mail_send", "bob@example.com", HypotheticalTurn(tainted=True, words="mail bob@example.com"), "allowed: "),
        (
            "mail_send",
            "bob@example.com",
            HypotheticalTurn(SenderClass.MEMBER, words="mail bob@example.com"),
            "needs your approval: ",
        ),
        ("read", "[1]", HypotheticalTurn(), "allowed: "),
        ("read", "{", HypotheticalTurn(), "refused: The arguments are not a JSON object"),
    ],
)
def test_call_is_judged_as_in_the_hypothetical_turn(
    tool: str, text: str, supposed: HypotheticalTurn, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    explain_call(GUARDING, tool, text, supposed)
    assert capsys.readouterr().out.startswith(said)


@pytest.mark.parametrize(
    ("supposed", "said"),
    [
        (HypotheticalTurn(), "allowed: In the conversation's mode Hob may do it without asking."),
        (
            HypotheticalTurn(autonomy=Autonomy.SUPERVISED),
            "needs your approval: In the conversation's mode Hob asks you first.",
        ),
        (HypotheticalTurn(mode=Mode.READ_ONLY), "refused: In the conversation's mode Hob may not do it."),
    ],
)
def test_explanation_names_the_mode_that_decided(
    supposed: HypotheticalTurn, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    explain_call(GUARDING, "exec", "git status", supposed)
    assert capsys.readouterr().out.splitlines()[0] == said


def test_tool_without_the_arguments_it_needs_is_not_judged() -> None:
    read = replace(SPECS["read"], schema={"type": "object", "required": ["path"]})
    with pytest.raises(InvalidRequest, match=r"read needs arguments: .*path"):
        explain_call(replace(GUARDING, specs=(read,)), "read", "", HypotheticalTurn())


def test_unknown_tool_counts_as_the_worst(capsys: pytest.CaptureFixture[str]) -> None:
    explain_call(GUARDING, "mcp_thing", "{}", HypotheticalTurn())
    said = capsys.readouterr().out
    assert said.startswith("needs your approval: ")
    assert "there is no tool mcp_thing here, so the strictest rules were used" in said


def test_programs_get_json(capsys: pytest.CaptureFixture[str]) -> None:
    explain_call(GUARDING, "write", "a.md", HypotheticalTurn(), as_json=True)
    said = json.loads(capsys.readouterr().out)
    assert (said["verdict"], said["rule"], said["acts"], said["tier"]) == ("allow", "mode.write", ["write"], 1)
    assert said["stages"] == [{"stage": "mode", "verdict": "allow", "rule": "mode.write"}]


def test_control_characters_in_arguments_do_not_reach_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    explain_call(GUARDING, "read", "~/.hob/\x1b[2Kx\u202e", HypotheticalTurn())
    assert not {"\x1b", "\u202e"} & set(capsys.readouterr().out)


@pytest.mark.slow
def test_command_needs_no_daemon_and_touches_nothing(tmp_path: Path) -> None:
    environ = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "HOB_HOME": str(tmp_path / ".hob")}
    environ["HOB_SANDBOX_BACKEND"] = BACKEND
    hob = (sys.executable, "-m", "hob", "policy", "explain")
    asked = subprocess.run((*hob, "exec", "git reset --hard"), env=environ, capture_output=True, text=True, check=True)
    assert asked.stdout.startswith("needs your approval: ")
    arguments = ("exec", "git reset --hard", "--as", "member", "--json")
    denied = subprocess.run((*hob, *arguments), env=environ, capture_output=True, text=True, check=True)
    assert json.loads(denied.stdout)["verdict"] == "deny"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("command", "found", "not_found"),
    [
        ("rm -rf x", "it deletes 'x'", "keys"),
        ("env", "it prints the environment", "deletes"),
        (
            'python3 -c "import os; os.chmod(chr(97), 0o777)"',
            "the program in it can change who may use files",
            "anything",
        ),
    ],
)
def test_risk_is_explained_only_by_its_findings(
    command: str, found: str, not_found: str, capsys: pytest.CaptureFixture[str]
) -> None:
    explain_call(GUARDING, "exec", command, HypotheticalTurn(tainted=True))
    said = capsys.readouterr().out
    assert f"  because {found}" in said
    assert not_found not in said.partition("effects")[2].partition("\n")[0]
    assert not {"(deletion)", "(environment-dump)", "(inline-code)"} & set(said.split())
