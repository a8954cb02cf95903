"""Drafts of a model's configuration."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hob.app.models.provider_draft import ProviderConfigDraft
from hob.config.secrets import SecretSources
from hob.core.errors import InvalidRequest
from hob.core.settings import Secret
from hob.providers.settings import ModelSettings, ProviderSettings

AROUND = SecretSources({"KEY": "new"}, Path("/nowhere"))
HERE, THERE = "http://127.0.0.1:8000/v1", "https://models.example/v1"


@given(st.builds(ProviderConfigDraft, st.text(), st.text(), st.text(), st.text()))
def test_draft_survives_a_round_trip(draft: ProviderConfigDraft) -> None:
    assert ProviderConfigDraft.read(draft.as_text()) == draft


@pytest.mark.parametrize("text", ["", "{", "[]", "3", '{"nonsense": "x"}', '{"model": 3}', '{"key": null}', '"x"'])
def test_malformed_draft_is_an_invalid_request(text: str) -> None:
    with pytest.raises(InvalidRequest):
        ProviderConfigDraft.read(text)


@pytest.mark.parametrize(
    ("base_url", "key", "kept"),
    [(HERE, "", "old"), (f"{HERE}/", "", "old"), ("", "", "old"), (THERE, "", None), (THERE, "env:KEY", "new")],
)
def test_key_stays_with_its_server(base_url: str, key: str, kept: str | None) -> None:
    now = ModelSettings(base_url=HERE, api_key=Secret.of("old"))
    draft = ProviderConfigDraft("m", "server", base_url, key)
    found = draft.settings(now, AROUND).api_key
    assert (found.reveal() if found else None) == kept
    assert ("model.api_key" in draft.changes(now)) is (kept != "old")
    assert draft.changes(now).get("model.api_key") == (key or None)


def test_providers_other_settings_stay(tmp_path: Path) -> None:
    now = ModelSettings(name="a", providers={"anthropic": ProviderSettings(tools="none"), "work": ProviderSettings()})
    draft = ProviderConfigDraft("anthropic/b", "anthropic", key="env:KEY")
    new = draft.settings(now, AROUND)
    assert (new.name, new.providers["anthropic"].tools, "work" in new.providers) == ("anthropic/b", "none", True)
    assert draft.changes(now) == {"model.providers.anthropic.api_key": "env:KEY", "model.name": "anthropic/b"}


def test_unchanged_draft_changes_nothing() -> None:
    now = ModelSettings(name="a", base_url=HERE, api_key=Secret.of("old"))
    assert ProviderConfigDraft().settings(now, AROUND) == now
    assert ProviderConfigDraft().changes(now) == {}
