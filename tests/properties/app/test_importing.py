"""Whatever another assistant's folder holds: it is read to its end, and no message of it is kept twice or lost."""

import asyncio
import json
import os
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hob.app.imports.assistants import OWN, find_assistant
from hob.app.imports.contents import Contents, SourceFolder
from hob.app.imports.plan import OPEN, ItemKind
from hob.app.imports.run import make_plan
from hob.app.imports.settings import put_setting
from hob.app.settings.sections import read_config
from hob.config.environment import process_environment
from hob.core.errors import ModelError
from hob.core.ids import SessionKey
from hob.core.models import TranscriptEntry
from hob.core.trust.labels import Label, Origin, Trust
from hob.gateway.imports import PastMessage
from hob.guard.admission.settings import AdmissionSettings
from hob.providers.catalog.catalog import KNOWN_NAMES, PROVIDERS
from hob.providers.routing.choice import ModelChoice
from hob.providers.settings import ModelSettings
from hob.store.imports import PastEntry
from hob.testing.memory_store import memory_store
from tests.app.imports import folders

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


def read(root: Path, assistant: int) -> tuple[Contents, list[PastMessage]]:
    with ExitStack() as stack:
        contents = OWN[assistant].read(SourceFolder(root, True, {}, stack))
        said = [each for one in contents.conversations for each in one.read() if isinstance(each, PastMessage)]
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


EVIL = "https://attacker.example/v1"
VARIABLES = {name: f"of-{name}" for each in PROVIDERS for name in each.keys} | {"OTHER": "of-other"}
SECRETS = frozenset({*VARIABLES.values(), "of-the-file", "of-mine"})
addresses = st.just(EVIL) | st.sampled_from(
    ["", "http://127.0.0.1:9/v1", "https://api.openai.com/v1", "http://localhost:11434"]
)
keys = st.sampled_from(
    [*(f"${{{name}}}" for name in VARIABLES), "env:OTHER", "keyring:hob/x", "theirs", "command:env", "${OTHER}x"]
) | st.sampled_from([*VARIABLES]).map(lambda name: {"source": "env", "id": name})
apis = st.sampled_from(["openai-completions", "openai-responses", "anthropic-messages", "ollama", "x"])
one = st.fixed_dictionaries(
    {}, optional={"baseUrl": addresses, "apiBase": addresses, "apiKey": keys | st.just("file:FILE"), "api": apis}
)
named = st.sampled_from(["mine", "vllm", "openai"]) | st.sampled_from([*KNOWN_NAMES, "other", "server"])
providers = st.dictionaries(named, one, max_size=5)
models = st.sampled_from([*(f"{name}/x" for name in KNOWN_NAMES), "mine/x", "other/x", "server/x", "x"])
OURS = (
    "",
    '[model.providers.mine]\nwire = "openai"\napi_key = "file:FILE"\n',
    '[model.providers.mine]\nbase_url = "https://mine.example/v1"\napi_key = "file:FILE"\n',
    '[model.providers.vllm]\napi_key = "file:FILE"\n[model.providers.openai]\napi_key = "env:OTHER"\n',
    '[model]\nbase_url = "https://server.example/v1"\napi_key = "file:FILE"\n',
)


def sent(home: Path) -> set[tuple[str, str, str]]:
    """Which secret goes to which address of which provider, as it is configured there."""
    config = read_config()
    choice = ModelChoice(config[ModelSettings], process_environment(), which=lambda _: None)
    return {
        (each.provider.id, each.base_url, key.reveal())
        for id in ("server", *KNOWN_NAMES, *config[ModelSettings].providers)
        for each in [_connect(choice, id)]
        for key in (each.keys if each is not None else ())
        if key is not None
    }


def _connect(choice: ModelChoice, id: str) -> Any:
    try:
        return choice.connect(id)
    except ModelError:
        return None


@given(
    found=providers,
    model=models,
    alias=models,
    ours=st.sampled_from(OURS),
    assistant=st.sampled_from(["openclaw", "nanobot"]),
)
def test_foreign_folder_never_redirects_a_secret_or_admits_anyone(
    found: Any, model: str, alias: str, ours: str, assistant: str
) -> None:
    with tempfile.TemporaryDirectory() as name, pytest.MonkeyPatch.context() as patch:
        home, root = Path(name).resolve() / "home", Path(name).resolve() / "copy"
        for each in [each for each in os.environ if each.startswith(("HOB_", "OPENAI_"))]:
            patch.delenv(each)
        for variable, value in {**VARIABLES, "HOME": str(home), "HOB_HOME": str(home / ".hob")}.items():
            patch.setenv(variable, value)
        folders.write(home / "secret", "of-the-file")
        folders.write(home / ".hob/secrets/model.providers.mine.api_key", "of-mine")
        folders.write(home / ".hob/config.toml", ours.replace("FILE", str(home / "secret")))
        channels = {
            "telegram": {"enabled": True, "allowFrom": ["666"], "groupPolicy": "allowlist", "groups": {"-1": {}}}
        }
        agents = {"defaults": {"model": model, "models": {alias: {"alias": "quick"}}}}
        config = {"models": {"providers": found}, "providers": found, "agents": agents, "channels": channels}
        for file in ("openclaw.json", "config.json"):
            folders.write(root / file, json.dumps(config).replace("FILE", str(home / "secret")))
        before = sent(home)
        with ExitStack() as stack:
            plan = make_plan(find_assistant(assistant), root, os.environ, home, stack)
        for item in plan.of(ItemKind.SETTING, ItemKind.SECRET):
            if item.status in OPEN:
                put_setting(item, read_config())
        assert {each for each in sent(home) - before if each[2] in SECRETS} == set()
        assert read_config()[AdmissionSettings] == AdmissionSettings()


def past(number: int) -> PastEntry:
    label = Label(Origin.FILE, Trust.UNTRUSTED)
    role = ("user", "assistant")[number % 2]
    return PastEntry(str(number), TranscriptEntry(0, role, f"text {number}", label, "", 1.0 + number))  # type: ignore[arg-type]


@given(ends=st.lists(st.integers(0, 30), min_size=1, max_size=5), size=st.integers(1, 9))
def test_interrupted_imports_keep_each_message_once_in_order(ends: Sequence[int], size: int) -> None:
    """Each time the source has so many messages, and what is read of it comes in batches."""

    async def go() -> None:
        session, maximum = SessionKey("other:one"), 0
        async with memory_store() as store:
            for end in ends:
                batches = [range(start, min(start + size, end)) for start in range(0, end, size)]
                new = [await store.imports.add(session, "", [past(n) for n in batch]) for batch in batches]
                assert sum(new) == max(0, end - maximum)
                maximum = max(maximum, end)
                found = await store.transcript.history(session)
                assert [entry.text for entry in found] == [f"text {n}" for n in range(maximum)]
                assert [entry.n for entry in found] == list(range(1, maximum + 1))

    asyncio.run(go())
