"""Connecting a model: tested with its key in a temporary file, then saved."""

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
"""Characters. Host names this long contain a dot or a port."""


@dataclass(frozen=True, slots=True)
class ModelCandidate:
    """A model that may be saved. `typed` is a key to store, in the place `keep`."""

    draft: ProviderConfigDraft
    typed: str = ""
    keep: str = ENVIRONMENT


@contextmanager
def draft_with_key(home: Path, candidate: ModelCandidate) -> Iterator[ProviderConfigDraft]:
    """Yield the draft with a reference to the typed key."""
    draft = candidate.draft
    try:
        yield replace(draft, key=draft_key(home, draft.provider, candidate.typed)) if candidate.typed else draft
    finally:
        drop_drafts(home)


def save_candidate(home: Path, candidate: ModelCandidate) -> tuple[str, ...]:
    """Save the model in the settings, its key by reference. Return the changed keys. Raises NotConfigured."""
    draft = candidate.draft
    if candidate.typed and candidate.keep != ENVIRONMENT:
        draft = replace(draft, key=keep_key(home, draft.provider, candidate.typed, candidate.keep))
    config = read_config()
    changes = draft.changes(config[ModelSettings])
    set_values(config.path, changes, sections=SECTIONS, environ=process_environment())
    for key in changes:
        audit_action(home, "config.set", key)
    return tuple(changes)


async def list_chat_models(setup: ModelSetup, id: str) -> tuple[str, ...]:
    """Return the names of a provider's chat models, best first. Raises ModelError."""
    try:
        async with asyncio.timeout(_LIST_SECONDS):
            listed = await setup.model.routes.list_models(id)
    except TimeoutError:
        trouble = translatable("no list of models came within {seconds:g} s", seconds=_LIST_SECONDS)
        raise ModelError(ModelFault.TIMEOUT, trouble) from None
    talking = [each for each in listed if not any(word in each.name.lower() for word in _NO_CHAT)]
    return tuple(each.name for each in sorted(talking, key=_rank))


def _rank(list_chat_models: ListedModel) -> bool:
    """Sort models that call tools first, otherwise keep the server's order."""
    return list_chat_models.tools is not True


def name_of(id: str, model: str) -> str:
    """Return the name of a provider's model in the settings."""
    if id == SERVER:
        return f"{SERVER}/{model}" if "/" in model else model
    return f"{id}/{model}" if model else id


def is_key(text: str) -> bool:
    """Return whether this text can be a key: it must fit into a header."""
    return bool(text) and text.isascii() and text.isprintable() and " " not in text and "://" not in text


def address_problem(address: str) -> str:
    """Return what is wrong with a server's address, or an empty text."""
    if not address:
        return translatable("an address is needed")
    if len(address) >= _SHORTEST_KEY and not set(address) & set(".:/"):
        return translatable("this looks like a key; an address looks like http://127.0.0.1:8000/v1")
    try:
        ModelSettings(base_url=address)
    except ValueError as error:
        return str(error)
    return ""
