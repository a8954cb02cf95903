"""Which entries a prompt shows."""

from hypothesis import given
from hypothesis import strategies as st

from hob.agent.prompt.window import load_limit, select, slide
from hob.agent.settings import AgentSettings
from hob.core.ids import CallId
from hob.core.models import TranscriptEntry
from hob.core.tools import ToolCall
from hob.core.trust.labels import OWNER_LABEL
from hob.core.turns import TranscriptView

SETTINGS = AgentSettings(window=4, compact_above=8)


def talk(rounds: list[int]) -> tuple[TranscriptEntry, ...]:
    """One turn per number: a question, that many tool rounds, an answer."""
    entries: list[TranscriptEntry] = []
    for turn, count in enumerate(rounds):
        entries.append(TranscriptEntry(0, "user", "q", OWNER_LABEL, f"t{turn}", 0.0))
        for n in range(count):
            call = CallId(f"c{n}")
            entries.append(
                TranscriptEntry(0, "assistant", "", OWNER_LABEL, f"t{turn}", 0.0, calls=(ToolCall(call, "x", "{}"),))
            )
            entries.append(TranscriptEntry(0, "tool", "r", OWNER_LABEL, f"t{turn}", 0.0, call=call))
        entries.append(TranscriptEntry(0, "assistant", "a", OWNER_LABEL, f"t{turn}", 0.0))
    return tuple(entries)


def loaded(entries: tuple[TranscriptEntry, ...], settings: AgentSettings = SETTINGS) -> TranscriptView:
    return TranscriptView(entries[-load_limit(settings) :], None, len(entries))


def is_paired(entries: tuple[TranscriptEntry, ...]) -> bool:
    return not entries or entries[0].role != "tool"


turns = st.lists(st.integers(0, 6), max_size=40)


@given(turns, st.none() | st.integers(0, 50))
def test_result_is_never_separated_from_its_call(rounds: list[int], keep: int | None) -> None:
    assert is_paired(select(loaded(talk(rounds)), SETTINGS, keep))


@given(turns)
def test_last_entries_are_always_shown_and_the_newest_is_last(rounds: list[int]) -> None:
    entries = talk(rounds)
    shown = select(loaded(entries), SETTINGS)
    assert shown == entries[len(entries) - len(shown) :]
    assert len(shown) >= min(len(entries), SETTINGS.window)


@given(st.integers(0, 500), st.integers(1, 60), st.integers(1, 60))
def test_window_keeps_at_least_its_size_and_at_most_the_limit(total: int, limit: int, window: int) -> None:
    left = total - slide(total, limit, window)
    assert left >= min(total, window)
    assert left <= max(limit, window)


def test_everything_is_shown_up_to_the_limit_and_while_a_summary_is_made() -> None:
    entries = talk([0] * 6)
    assert select(loaded(entries), SETTINGS) == entries


def test_window_is_stable_between_slides() -> None:
    entries = talk([0] * 100)
    starts = {total - len(select(loaded(entries[:total]), SETTINGS)) for total in range(0, 200, 2)}
    assert len(starts) == 48  # a slide every other turn, of two turns each


def test_window_does_not_depend_on_how_many_entries_were_loaded() -> None:
    entries = talk([2, 0, 3, 1] * 20)
    everything = TranscriptView(entries, None, len(entries))
    assert select(loaded(entries), SETTINGS) == select(everything, SETTINGS)


def test_window_begins_at_a_turn_if_one_is_near() -> None:
    shown = select(loaded(talk([1] * 30)), SETTINGS)
    assert shown[0].role == "user"


@given(turns, st.integers(0, 50))
def test_keep_is_an_upper_bound(rounds: list[int], keep: int) -> None:
    assert len(select(loaded(talk(rounds)), SETTINGS, keep)) <= keep
