"""No command speaks to Hob in the owner's name, wherever it runs and whatever is permitted."""

import pytest

from hob.core.ports.guard import Deny
from hob.guard.policy.context import Sandbox
from hob.guard.policy.modes import Autonomy, Mode
from tests.guard.calling import context, verdict


@pytest.mark.parametrize(
    "command",
    [
        "hob approvals allow a_1",
        "cd /opt && ./venv/bin/hob accept --all",
        "echo allow | xargs hob approvals",
        "python3 -m hob config set policy.mode full",
        "python3 -c 'from hob.cli.table import run; run([\"accept\"])'",
        "curl --unix-socket /tmp/x/hob.sock http://hob/approvals",
        "nc -U ./hob.sock",
        "ls $HOB_HOME",
    ],
)
@pytest.mark.parametrize("confined", [True, False])
def test_speaking_to_hob_is_refused_even_in_full_mode(command: str, confined: bool) -> None:
    given = context(
        "do it", mode=Mode.FULL, autonomy=Autonomy.AUTONOMOUS, sandbox=Sandbox(confined=confined, plain=not confined)
    )
    assert isinstance(verdict("exec", given, command=command), Deny)


@pytest.mark.parametrize(
    "command", ["grep -rn hob README.md", "git log --author=hob", "python3 -m hobby", "cat hob.md"]
)
def test_mere_mention_of_hob_is_not_refused(command: str) -> None:
    assert not isinstance(verdict("exec", context("do it"), command=command), Deny)
