"""Whatever another assistant's folder holds: it is read to its end, and no message of it is kept twice or lost."""

import asyncio
import json
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from importlib import import_module
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from hob.app.importing.assistants import OWN
from hob.app.importing.contents import Contents, Said, Source
from hob.core.ids import SessionKey
from hob.core.labels import Label, Origin, Trust
from hob.core.models import Entry
from hob.store import PastEntry
from hob.testing.memory_store import memory_store
from tests.app.importing import folders

WORDS = ["user", "assistant", "text", "anthropic/x", "${HOME}", "*", "low", "2026-03-08T14:53:56", "http://[", "a\nb"]
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.sampled_from(WORDS)
    | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


def near(shape: Any) -> st.SearchStrategy[Any]:
    """Something like this, with anything at all in places."""
    match shape:
        case dict():
            parts = {name: near(value) for name, value in shape.items()}
            like: st.SearchStrategy[Any] = st.fixed_dictionaries({}, optional=parts)
        case list() | tuple() if shape:
            like = st.lists(near(shape[0]), max_size=4)
        case _:
            like = st.just(shape)
    return st.one_of(like, like, like, like, values)


CLAW = import_module("json5").loads(folders.CLAW_CONFIG)
PROFILES = {"version": 1, "profiles": {"a": {"type": "api_key", "provider": "anthropic", "key": "k"}}}
INDEX = {"agent:main:main": {"sessionId": "s-1", "displayName": "x"}}
claw_entries = st.one_of(*map(near, folders.CLAW_TALK), values)
nano_entries = st.one_of(*map(near, folders.NANO_TALK), values)


def read(root: Path, assistant: int) -> tuple[Contents, list[Said]]:
    with ExitStack() as stack:
        contents = OWN[assistant].read(Source(root, True, {}, stack))
        said = [each for one in contents.conversations for each in one.read() if isinstance(each, Said)]
    return contents, said


@given(config=near(CLAW), keys=near(PROFILES), index=near(INDEX), entries=st.lists(claw_entries, max_size=6))
def test_openclaw_folders_of_any_kind_are_read(config: Any, keys: Any, index: Any, entries: Sequence[Any]) -> None:
    with tempfile.TemporaryDirectory() as name:
        root = Path(name).resolve()
        (root / "agents/main/sessions").mkdir(parents=True)
        (root / "agents/main/agent").mkdir()
        (root / "openclaw.json").write_text(json.dumps(config))
        (root / "agents/main/agent/auth-profiles.json").write_text(json.dumps(keys))
        (root / "agents/main/sessions/sessions.json").write_text(json.dumps(index))
        (root / "agents/main/sessions/s-1.jsonl").write_text("\n".join(map(json.dumps, entries)))
        contents, said = read(root, 0)
    assert len(contents.conversations) == 1
    assert all(each.at > 0 and each.key.isprintable() and len(each.key) <= 200 for each in said)
    assert not [each for each in contents.settings if "\n" in str(each.value)]


@given(config=near(folders.NANO_CONFIG), entries=st.lists(nano_entries, max_size=8))
def test_nanobot_folders_of_any_kind_are_read(config: Any, entries: Sequence[Any]) -> None:
    with tempfile.TemporaryDirectory() as name:
        root = Path(name).resolve()
        (root / "sessions").mkdir()
        (root / "config.json").write_text(json.dumps(config))
        (root / "sessions/cli_direct.jsonl").write_text("\n".join(map(json.dumps, entries)))
        contents, said = read(root, 1)
    assert len(contents.conversations) == 1
    assert all(each.at > 0 and each.key.isprintable() for each in said)


def past(number: int) -> PastEntry:
    label = Label(Origin.FILE, Trust.UNTRUSTED)
    role = ("user", "assistant")[number % 2]
    return PastEntry(str(number), Entry(0, role, f"text {number}", label, "", 1.0 + number))  # type: ignore[arg-type]


@given(ends=st.lists(st.integers(0, 30), min_size=1, max_size=5), size=st.integers(1, 9))
def test_however_often_it_is_stopped_and_done_again_each_message_is_there_once_in_order(
    ends: Sequence[int], size: int
) -> None:
    """Each time the source has so many messages, and what is read of it comes in batches."""

    async def go() -> None:
        session, most = SessionKey("other:one"), 0
        async with memory_store() as store:
            for end in ends:
                batches = [range(start, min(start + size, end)) for start in range(0, end, size)]
                new = [await store.imports.add(session, "", [past(n) for n in batch]) for batch in batches]
                assert sum(new) == max(0, end - most)
                most = max(most, end)
                found = await store.transcript.history(session)
                assert [entry.text for entry in found] == [f"text {n}" for n in range(most)]
                assert [entry.n for entry in found] == list(range(1, most + 1))

    asyncio.run(go())
