"""Whether commands can run, as onboarding, the chat and the security audit report it."""

import os
from pathlib import Path

import pytest

from hob.app.daemon.command_check import find_command_backend
from hob.app.diagnostics.security_facts import gather
from hob.app.settings.sections import SECTIONS
from hob.cli.chat.startup import explain_no_commands
from hob.cli.onboarding.preferences import settle_commands
from hob.cli.onboarding.report import StepStatus
from hob.config.loading import load_config
from hob.core.errors import NotConfigured


def test_work_repo_that_stops_all_commands_is_reported_everywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    environ = {"HOB_HOME": str(tmp_path), "HOB_WORKSPACE_WORK_REPO": str(Path.home())}
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    config = load_config(SECTIONS, home=tmp_path, environ=environ)
    with pytest.raises(NotConfigured, match="no command can run"):
        find_command_backend(config, os.environ)
    assert "no command can run" in explain_no_commands(config)
    assert settle_commands().status is StepStatus.SKIPPED
    assert "no command can run" in gather(config, os.environ).backend.missing
