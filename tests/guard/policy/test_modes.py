"""Modes and autonomy: the documented table, and the policy's results."""

from typing import Any

import pytest

from hob.core.ports.guard import Allow, Ask, Deny
from hob.guard.policy.call_analysis import read_call
from hob.guard.policy.context import Sandbox
from hob.guard.policy.modes import ACTS, TABLE, Act, Autonomy, Mode, ModeVerdict, look_up
from tests.guard.calling import READER, SPECS, call_of, context, decide

# supervised, cautious and autonomous, for read-only | guarded | workspace | full
PROMISED = """
read       yes yes yes | yes yes   yes   | yes yes   yes   | yes yes   yes
fetch      yes yes yes | yes yes   yes   | yes yes   yes   | yes yes   yes
write      no  no  no  | ask yes   yes   | ask yes   yes   | ask yes   yes
run        no  no  no  | ask yes   yes   | ask yes   yes   | ask yes   yes
online     no  no  no  | ask yes   yes   | ask yes   yes   | ask yes   yes
persist    no  no  no  | ask yes   yes   | ask yes   yes   | ask yes   yes
final      no  no  no  | ask named named | ask named yes   | ask yes   yes
send       no  no  no  | ask named named | ask named named | ask named yes
risk       no  no  no  | ask ask   ask   | ask ask   yes   | ask yes   yes
configure  no  no  no  | ask ask   ask   | ask ask   ask   | ask ask   ask
"""

# a call that amounts to the act, what the owner's words name in it, and the sandbox
CALLS: dict[Act, tuple[str, dict[str, Any], str]] = {
    Act.READ: ("read", {"path": "a.md"}, ""),
    Act.FETCH: ("web_fetch", {"url": "https://a.example/"}, ""),
    Act.WRITE: ("write", {"path": "a.md"}, ""),
    Act.RUN: ("exec", {"command": "make"}, ""),
    Act.ONLINE: ("exec", {"command": "make deps", "hosts": ["pypi.org"]}, ""),
    Act.PERSIST: ("remember", {"text": "x"}, ""),
    Act.FINAL: ("delete_file", {"path": "old/a.md"}, "delete old/a.md"),
    Act.SEND: ("mail_send", {"to": "bob@example.com"}, "mail bob@example.com"),
    Act.RISK: ("exec", {"command": "git reset --hard"}, ""),
    Act.CONFIGURE: ("config_set", {"key": "agent.language", "value": "de"}, ""),
}
SANDBOX = Sandbox(reaches=lambda host: host == "pypi.org")
EVERY = [(act, mode, autonomy) for act in Act for mode in Mode for autonomy in Autonomy]


def test_table_matches_the_documentation() -> None:
    rows = [line.replace("|", " ").split() for line in PROMISED.strip().splitlines()]
    promised = {Act(name): list(map(ModeVerdict, cells)) for name, *cells in rows}
    table = {act: [look_up(act, mode, autonomy) for mode in Mode for autonomy in Autonomy] for act in TABLE}
    assert table == promised


@pytest.mark.parametrize("act", Act)
def test_each_call_is_mapped_to_its_act(act: Act) -> None:
    tool, arguments, _ = CALLS[act]
    analysis = read_call(call_of(tool, **arguments), SPECS[tool], READER, SANDBOX)
    assert analysis is not None
    assert act in analysis.acts
    assert analysis.acts - {act} <= {Act.READ, Act.RUN}


@pytest.mark.parametrize(("act", "mode", "autonomy"), EVERY)
def test_policy_follows_the_table(act: Act, mode: Mode, autonomy: Autonomy) -> None:
    tool, arguments, words = CALLS[act]
    given = context("do it", mode=mode, autonomy=autonomy, sandbox=SANDBOX)
    named = context(words, mode=mode, autonomy=autonomy, sandbox=SANDBOX)
    kinds = {
        ModeVerdict.YES: (Allow, Allow),
        ModeVerdict.NAMED: (Ask, Allow if words else Ask),
        ModeVerdict.ASK: (Ask, Ask),
        ModeVerdict.NO: (Deny, Deny),
    }
    found = decide(tool, given, **arguments).verdict, decide(tool, named, **arguments).verdict
    assert tuple(map(type, found)) == kinds[look_up(act, mode, autonomy)]


def test_stricter_modes_and_less_autonomy_are_never_looser() -> None:
    order = list(ModeVerdict)
    for act in Act:
        for autonomy in Autonomy:
            across = [order.index(look_up(act, mode, autonomy)) for mode in Mode]
            assert across == sorted(across, reverse=True)
        for mode in Mode:
            down = [order.index(look_up(act, mode, autonomy)) for autonomy in Autonomy]
            assert down == sorted(down, reverse=True)


def test_every_act_has_a_description_and_a_row() -> None:
    assert set(ACTS) == set(TABLE) == set(Act)
