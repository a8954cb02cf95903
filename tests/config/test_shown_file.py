"""The configuration file as people see it: its own text, without secrets."""

from pathlib import Path

from hob.app.settings.sections import SECTIONS
from hob.config.shown_file import shown_text

FILE = """\
# My Hob.
[model]
name = "openai/gpt-5"  # the default
api_key = "sk-literal-secret"  # sk-literal-secret, of Anna
{secret}
[model.providers.anthropic]
api_key = "env:ANTHROPIC_KEY"

[model.providers.mistral]
api_kee = 'a-misspelled-secret'

[agent]
timezone = "Europe/Berlin"
# auth_token = "an-old-secret"

[nowhere]
thing = "an-unknown-secret"
"""


def test_file_is_shown_with_its_comments_and_without_secrets(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text(FILE.replace("{secret}", 'fallback = ["""\nfirst"""]'))
    shown = shown_text(path, SECTIONS)
    assert shown is not None
    assert "secret" not in shown
    for kept in (
        "# My Hob.",
        'name = "openai/gpt-5"  # the default',
        '"env:ANTHROPIC_KEY"',
        "Europe/Berlin",
        "of Anna",
    ):
        assert kept in shown
    assert 'api_key = "•••"  # •••, of Anna' in shown
    assert "# auth_token = •••" in shown


def test_home_without_a_file_shows_none(tmp_path: Path) -> None:
    assert shown_text(tmp_path / "config.toml", SECTIONS) is None
    assert not list(tmp_path.iterdir())
