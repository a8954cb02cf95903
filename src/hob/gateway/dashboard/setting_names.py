"""Single settings below `/api/v1`, by Hob's key or KafClaw's."""

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

from hob.core.errors import NotFound
from hob.core.translation.language import translatable, translated
from hob.core.values import dataclass
from hob.gateway.answer_types import SettingAnswer, SettingsAnswer, SettingsFileAnswer
from hob.gateway.http.endpoint import EndpointCall
from hob.gateway.http.fields import Nothing, field
from hob.gateway.http.reply import JsonResponse, encoded, etagged, json_response, language_of

KAFCLAW: Mapping[str, str] = {
    "silent_mode": "delivery.silent_mode",
    "daily_token_limit": "spending.daily_tokens",
    "work_repo_path": "workspace.work_repo",
    "bot_repo_path": "workspace.path",
    "default_repo_search_path": "workspace.search_path",
    "approval_timeout_seconds": "approvals.seconds",
}
"""KafClaw's names of Hob's settings."""
RESERVED = frozenset({"whatsapp_allowlist", "whatsapp_denylist", "whatsapp_pending", "whatsapp_pair_token"})
"""Keys of KafClaw's WhatsApp channel that Hob has no settings for: people and pairing decide who may write."""


class OneSettingAnswer(TypedDict):
    """A setting under the requested key."""

    key: str
    value: Any


class SetAnswer(OneSettingAnswer):
    """The setting after the change."""

    status: str


@dataclass(frozen=True, slots=True)
class SettingQuery:
    """Selects settings."""

    key: str = field("this one alone, by its key here or KafClaw's, as `silent_mode`; without it all", "")


@dataclass(frozen=True, slots=True)
class SetSettingRequest:
    """A setting and its new value."""

    key: str = field("its key here or KafClaw's, as `daily_token_limit`", characters=(1, 200))
    value: Any = field("its value; null takes a change back", None)


async def settings(call: EndpointCall[SettingQuery]) -> JsonResponse[SettingsAnswer] | JsonResponse[OneSettingAnswer]:
    """List every setting with its value, the value's origin, and whether it can be changed here. Secrets stay hidden.

    Descriptions are in the language of `Accept-Language`, English or German.
    """
    key = call.payload.key
    if not key:
        found = call.api.operations.settings()
        return etagged(call.request, *call.api.kept(_CachedAnswers).answer(found, language_of(call.request)))
    one: OneSettingAnswer = {"key": key, "value": _value(call, key)}
    return json_response(one)


async def file(call: EndpointCall[Nothing]) -> JsonResponse[SettingsFileAnswer]:
    """Return the settings file's own text, with `•••` for each secret."""
    return etagged(call.request, await call.api.operations.settings_file())


class _CachedAnswers:
    """The last answer in each language: there are hundreds of settings, and they rarely change."""

    def __init__(self) -> None:
        self._told: dict[str, tuple[Sequence[SettingAnswer], SettingsAnswer, bytes]] = {}

    def answer(self, found: Sequence[SettingAnswer], language: str) -> tuple[SettingsAnswer, bytes]:
        """Return the answer and its JSON, rebuilt if the settings have changed since the last call."""
        known = self._told.get(language)
        if known is None or known[0] is not found:
            every: SettingsAnswer = {"settings": found}
            if language != "en":
                every["settings"] = [{**each, "doc": translated(each["doc"], language)} for each in found]
            known = self._told[language] = found, every, encoded(every)
        return known[1:]


async def put(call: EndpointCall[SetSettingRequest]) -> JsonResponse[SetAnswer]:
    """Change one setting that is `changeable`."""
    key = call.payload.key
    _check_reserved(key)
    await call.api.operations.change_settings({KAFCLAW.get(key, key): call.payload.value}, call.caller.by)
    return json_response({"status": "ok", "key": key, "value": _value(call, key)})


def _value(call: EndpointCall[Any], key: str) -> Any:
    for each in call.api.operations.settings():
        if each["key"] == KAFCLAW.get(key, key):
            return each["value"]
    _check_reserved(key)
    raise NotFound(translatable("there is no setting {key}", key=key[:80]))


def _check_reserved(key: str) -> None:
    """Raise NotFound for a reserved key."""
    if key in RESERVED:
        told = translatable(
            "{key} is reserved for a channel WhatsApp, which Hob does not have; who may write to Hob is under "
            "/api/v1/people and /api/v1/pairing",
            key=key,
        )
        raise NotFound(told)
