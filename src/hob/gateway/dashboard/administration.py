"""Administration below `/api/v1`: log, doctor, models, channels, plug-ins, people."""

from collections.abc import Sequence
from typing import Any, TypedDict

from hob.core.translation.language import translated
from hob.core.trust.scopes import TokenScope
from hob.core.values import dataclass
from hob.gateway.administration import (
    Administration,
    ChannelAnswer,
    ConnectedAnswer,
    DoctorAnswer,
    FindingAnswer,
    IdentityFilesAnswer,
    LazyAdministration,
    LogLineAnswer,
    LogsQuery,
    ModelConnection,
    PluginAnswer,
    SandboxAnswer,
    SecretAnswer,
    SkippedAnswer,
)
from hob.gateway.dashboard.endpoint_names import Known, own
from hob.gateway.http.endpoint import EndpointCall
from hob.gateway.http.fields import Nothing, field
from hob.gateway.http.reply import JsonResponse, etagged, json_response, language_of
from hob.gateway.routes.table import ENDPOINTS as OWN


class ModelsAnswer(TypedDict):
    """Models by their references and the owner's names for them."""

    models: list[str]


class LogsAnswer(TypedDict):
    """Lines of the log, the newest last."""

    lines: Sequence[LogLineAnswer]


class ChannelsAnswer(TypedDict):
    """Channels that run."""

    channels: Sequence[ChannelAnswer]


class SecretsAnswer(TypedDict):
    """Secrets by where they are kept."""

    secrets: Sequence[SecretAnswer]


class PluginsAnswer(TypedDict):
    """Plug-ins."""

    plugins: Sequence[PluginAnswer]


@dataclass(frozen=True, slots=True)
class HealthQuery:
    """How far the doctor looks."""

    online: bool = field("ask models and other servers too", False)
    refresh: bool = field("look now, whatever was found a few minutes ago", False)


@dataclass(frozen=True, slots=True)
class IdentityDecision:
    """What becomes of an identity file that was changed."""

    accept: bool = field("true: it is followed as it stands; false: what was accepted before is put back")
    hash: str = field("the `hash` of what was looked at: what was changed since is not accepted", characters=(64, 64))


def _administration(call: EndpointCall[Any]) -> Administration:
    return call.api.port(LazyAdministration).get()


async def logs(call: EndpointCall[LogsQuery]) -> JsonResponse[LogsAnswer]:
    """What stands in the log, the newest last."""
    return etagged(call.request, {"lines": await _administration(call).logs(call.payload)})


async def doctor(call: EndpointCall[HealthQuery]) -> JsonResponse[DoctorAnswer]:
    """What is wrong, and what to do about it, what matters most first. Nothing is changed.

    It is told again for five minutes before Hob looks anew; in the language of `Accept-Language`, English or German.
    """
    payload, language = call.payload, language_of(call.request)
    found = await _administration(call).examine(online=payload.online, refresh=payload.refresh)
    findings: list[FindingAnswer] = [
        {**each, "title": translated(each["title"], language), "advice": translated(each["advice"], language)}
        for each in found["findings"]
    ]
    skipped: list[SkippedAnswer] = [
        {**each, "reason": translated(each["reason"], language)} for each in found["skipped"]
    ]
    return etagged(call.request, {**found, "findings": findings, "skipped": skipped})


async def models(call: EndpointCall[Nothing]) -> JsonResponse[ModelsAnswer]:
    """The models that are set up, the usual one first."""
    return etagged(call.request, {"models": list(call.api.models.names())})


async def connect(call: EndpointCall[ModelConnection]) -> JsonResponse[ConnectedAnswer]:
    """Ask a model for a word and a tool call with a key that is not kept yet; if it answers, it is Hob's from now on.

    What was kept while there was no model is answered then. What it costs is the task `test`.
    """
    operations = call.api.operations
    told = await _administration(call).connect(call.payload, operations.probe_model)
    if told["kept"]:
        operations.reload()
        await operations.retry_all("no_model")
    return json_response(told)


async def channels(call: EndpointCall[Nothing]) -> JsonResponse[ChannelsAnswer]:
    """The channels that run, with how many messages could not be delivered."""
    return etagged(call.request, {"channels": await _administration(call).channels()})


async def plugins(call: EndpointCall[Nothing]) -> JsonResponse[PluginsAnswer]:
    """The plug-ins that are installed here."""
    return etagged(call.request, {"plugins": await _administration(call).plugins()})


async def secrets(call: EndpointCall[Nothing]) -> JsonResponse[SecretsAnswer]:
    """The secrets that the settings name, by where they are kept and what uses them; never what they are."""
    language, found = language_of(call.request), await _administration(call).secrets()
    for each in found:
        each["about"] = translated(each["about"], language)
    return etagged(call.request, {"secrets": found})


async def sandbox(call: EndpointCall[Nothing]) -> JsonResponse[SandboxAnswer]:
    """What confines commands on this machine, what would do so better, and what commands may reach, read and change."""
    language, found = language_of(call.request), await _administration(call).sandbox()
    found["reason"], found["advice"] = (translated(found[name], language) for name in ("reason", "advice"))
    return etagged(call.request, found)


async def identity(call: EndpointCall[Nothing]) -> JsonResponse[IdentityFilesAnswer]:
    """The identity files (SOUL.md and others), and what was changed in those that are not followed until accepted."""
    return etagged(call.request, _told(await _administration(call).identity(), call))


async def settle_identity(call: EndpointCall[IdentityDecision]) -> JsonResponse[IdentityFilesAnswer]:
    """Accept an identity file as it was looked at, or put back what was accepted before."""
    payload = call.payload
    found = await _administration(call).settle_identity(call.id, payload.hash, accept=payload.accept)
    return json_response(_told(found, call))


def _told(found: IdentityFilesAnswer, call: EndpointCall[Any]) -> IdentityFilesAnswer:
    language = language_of(call.request)
    for each in found["files"]:
        each["problem"] = translated(each["problem"], language)
    return found


_same = Known(OWN).same
READ, ADMIN = TokenScope.READ, TokenScope.ADMIN
ENDPOINTS = (
    own("GET", "/logs", logs, ADMIN, LogsQuery),
    own("GET", "/doctor", doctor, ADMIN, HealthQuery),
    own("GET", "/models", models, READ),
    own("GET", "/channels", channels, READ),
    own("GET", "/plugins", plugins, READ),
    own("GET", "/secrets", secrets, ADMIN),
    own("GET", "/sandbox", sandbox, ADMIN),
    own("GET", "/identity", identity, ADMIN),
    own("POST", "/identity/{id}", settle_identity, ADMIN, IdentityDecision, errors=("not_found",), changes="identity"),
    own("POST", "/models/connect", connect, ADMIN, ModelConnection),
    _same("POST", "/models/test"),
    _same("GET", "/people"),
    _same("POST", "/people/link"),
    _same("POST", "/people/unlink"),
    _same("GET", "/pairing"),
    _same("POST", "/pairing/approve"),
    _same("POST", "/pairing/deny"),
)
