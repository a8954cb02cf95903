"""Connecting a model: tried with a key that lies in a file of the owner's meanwhile, then written down."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from hob.app.models.keys import ENVIRONMENT, draft_key, drop_drafts, keep_key
from hob.app.models.probe import ModelSetup
from hob.app.models.provider_draft import ProviderConfigDraft
from hob.app.settings.sections import SECTIONS, read_config
from hob.app.trust.audit import audit_action
from hob.config.editing import set_values
from hob.config.environment import process_environment
from hob.core.errors import ModelError, ModelFault
from hob.core.translation.language import translatable
from hob.core.values import dataclass
from hob.providers.catalog.catalog import SERVER
from hob.providers.http.wire import ListedModel
from hob.providers.settings import ModelSettings

_LIST_SECONDS = 5.0
_NO_CHAT = ("embed", "whisper", "rerank", "bge-", "tts")
_SHORTEST_KEY = 20
"""Characters; a host's name of that length has a dot, or is written with its port."""


@dataclass(frozen=True, slots=True)
class ModelCandidate:
    """A model that may be written down. `typed` is a key that has to be kept, in the place `keep`."""

    draft: ProviderConfigDraft
    typed: str = ""
    keep: str = ENVIRONMENT


@contextmanager
def keyed(home: Path, candidate: ModelCandidate) -> Iterator[ProviderConfigDraft]:
    """The draft, with a reference to the key that was typed."""
    draft = candidate.draft
    try:
        yield replace(draft, key=draft_key(home, draft.provider, candidate.typed)) if candidate.typed else draft
    finally:
        drop_drafts(home)


def save_candidate(home: Path, candidate: ModelCandidate) -> tuple[str, ...]:
    """Write it down, the key by reference; the keys of the settings that changed. Raises NotConfigured."""
    draft = candidate.draft
    if candidate.typed and candidate.keep != ENVIRONMENT:
        draft = replace(draft, key=keep_key(home, draft.provider, candidate.typed, candidate.keep))
    config = read_config()
    changes = draft.changes(config[ModelSettings])
    set_values(config.path, changes, sections=SECTIONS, environ=process_environment())
    for key in changes:
        audit_action(home, "config.set", key)
    return tuple(changes)


async def listed(setup: ModelSetup, id: str) -> tuple[str, ...]:
    """The names of what a provider offers for talking, best first. Raises ModelError."""
    try:
        async with asyncio.timeout(_LIST_SECONDS):
            listed = await setup.model.routes.list_models(id)
    except TimeoutError:
        trouble = translatable("no list of models came within {seconds:g} s", seconds=_LIST_SECONDS)
        raise ModelError(ModelFault.TIMEOUT, trouble) from None
    talking = [each for each in listed if not any(word in each.name.lower() for word in _NO_CHAT)]
    return tuple(each.name for each in sorted(talking, key=_rank))


def _rank(listed: ListedModel) -> bool:
    """Those that call tools first, and otherwise in the server's order."""
    return listed.tools is not True


def name_of(id: str, model: str) -> str:
    """The name under which the configuration knows a provider's model."""
    if id == SERVER:
        return f"{SERVER}/{model}" if "/" in model else model
    return f"{id}/{model}" if model else id


def is_key(text: str) -> bool:
    """Whether this can be a key: it goes into a header."""
    return bool(text) and text.isascii() and text.isprintable() and " " not in text and "://" not in text


def address_problem(address: str) -> str:
    """What is wrong with a server's address; empty if nothing is."""
    if not address:
        return translatable("an address is needed")
    if len(address) >= _SHORTEST_KEY and not set(address) & set(".:/"):
        return translatable("this looks like a key; an address looks like http://127.0.0.1:8000/v1")
    try:
        ModelSettings(base_url=address)
    except ValueError as error:
        return str(error)
    return ""
