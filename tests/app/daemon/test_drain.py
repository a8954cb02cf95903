"""What a Hob says when it ends before its background commands."""

import pytest

from hob.app.daemon.drain import commands_notice


def test_notice_is_in_the_terminals_language(monkeypatch: pytest.MonkeyPatch) -> None:
    assert commands_notice(0) == ""
    assert commands_notice(1).startswith("1 command in the background ends")
    monkeypatch.setenv("LC_ALL", "de_DE.UTF-8")
    assert commands_notice(2).startswith("2 Befehle im Hintergrund enden")
