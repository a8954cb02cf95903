"""Untrusted text expires in steps, never earlier than the settings say."""

from hob.agent.prompt.untrusted_expiry import age
from hob.agent.settings import AgentSettings
from hob.core.models import TranscriptEntry
from tests.agent.prompting import fetched

SETTINGS = AgentSettings(taint_turns=100, taint_minutes=30)
STEP = 600  # seconds; a third of the minutes
ARRIVED = (130, 700, 1_555)


def shown(now: float) -> tuple[bool, ...]:
    """Return which of the three results are shown in full."""
    entries: list[TranscriptEntry] = []
    for place, at in enumerate(ARRIVED):
        entries += fetched(f"t{place}", "look", f"result {place}", "done", n=4 * place + 1, at=at)
    text = " ".join(entry.text for entry in age(entries, now, SETTINGS))
    return tuple(f"result {place}" in text for place in range(len(ARRIVED)))


def test_untrusted_round_is_shown_at_most_a_third_longer_than_configured() -> None:
    for now in range(ARRIVED[-1], 6_000, 30):
        for at, whole in zip(ARRIVED, shown(now), strict=True):
            assert whole or now - at > 1_800
            assert not whole or now - at < 1_800 + STEP + 1


def test_prompt_changes_at_whole_steps_only() -> None:
    """Otherwise every minute would invalidate the provider's prompt cache."""
    changed = [now for now in range(ARRIVED[-1], 6_000) if shown(now) != shown(now - 1)]
    assert len(changed) == len(ARRIVED)
    assert [now % STEP for now in changed] == [0, 0, 0]
