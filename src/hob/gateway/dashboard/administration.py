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
    LogLineAnswer,
    LogsQuery,
    ModelConnection,
    PluginAnswer,
    SandboxAnswer,
    SecretAnswer,
    SkippedAnswer,
)
from hob.gateway.dashboard.endpoint_names import NamedEndpoints, own
from hob.gateway.http.endpoint import EndpointCall
from hob.gateway.http.fields import Nothing, field
from hob.gateway.http.reply import JsonResponse, etagged, json_response, language_of
from hob.gateway.routes.table import ENDPOINTS as OWN


class ModelsAnswer(TypedDict):
    """Configured models, by reference and by the owner's names for them."""

    models: list[str]


class LogsAnswer(TypedDict):
    """Log lines, newest last."""

    lines: Sequence[LogLineAnswer]


class ChannelsAnswer(TypedDict):
    """Running channels."""

    channels: Sequence[ChannelAnswer]


class SecretsAnswer(TypedDict):
    """Secrets, by where they are stored."""

    secrets: Sequence[SecretAnswer]


class PluginsAnswer(TypedDict):
    """Installed plug-ins."""

    plugins: Sequence[PluginAnswer]


@dataclass(frozen=True, slots=True)
class HealthQuery:
    """How deep the doctor checks."""

    online: bool = field("ask models and other servers too", False)
    refresh: bool = field("look now, whatever was found a few minutes ago", False)


@dataclass(frozen=True, slots=True)
class IdentityDecision:
    """The owner's decision about a changed identity file."""

    accept: bool = field("true: it is followed as it stands; false: what was accepted before is put back")
    hash: str = field("the `hash` of what was looked at: what was changed since is not accepted", characters=(64, 64))


def _administration(call: EndpointCall[Any]) -> Administration:
    return call.api.port(Administration)


async def logs(call: EndpointCall[LogsQuery]) -> JsonResponse[LogsAnswer]:
    """List log lines, newest last."""
    return etagged(call.request, {"lines": await _administration(call).logs(call.payload)})


async def doctor(call: EndpointCall[HealthQuery]) -> JsonResponse[DoctorAnswer]:
    """List problems and how to fix them, the most important first. Changes nothing.

    Results are cached for five minutes. In the language of `Accept-Language`, English or German.
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
    """List the configured models, the default first."""
    return etagged(call.request, {"models": list(call.api.models.names())})


async def connect(call: EndpointCall[ModelConnection]) -> JsonResponse[ConnectedAnswer]:
    """Test a new key with a reply and a tool call, and save it if the model answers.

    Messages that waited for a model are answered then. The cost is booked to the task `test`.
    """
    operations = call.api.operations
    told = await _administration(call).connect(call.payload, operations.probe_model)
    if told["kept"]:
        operations.reload()
        await operations.retry_all("no_model")
    return json_response(told)


async def channels(call: EndpointCall[Nothing]) -> JsonResponse[ChannelsAnswer]:
    """List the running channels, each with its number of undeliverable messages."""
    return etagged(call.request, {"channels": await _administration(call).channels()})


async def plugins(call: EndpointCall[Nothing]) -> JsonResponse[PluginsAnswer]:
    """List the installed plug-ins."""
    return etagged(call.request, {"plugins": await _administration(call).plugins()})


async def secrets(call: EndpointCall[Nothing]) -> JsonResponse[SecretsAnswer]:
    """List the secrets that the settings name: where each is stored and what uses it, never its value."""
    language, found = language_of(call.request), await _administration(call).secrets()
    for each in found:
        each["about"] = translated(each["about"], language)
    return etagged(call.request, {"secrets": found})


async def sandbox(call: EndpointCall[Nothing]) -> JsonResponse[SandboxAnswer]:
    """Describe this machine's sandbox, better ones it could have, and what commands may reach, read and change."""
    language, found = language_of(call.request), await _administration(call).sandbox()
    found["reason"], found["advice"] = (translated(found[name], language) for name in ("reason", "advice"))
    return etagged(call.request, found)


async def identity(call: EndpointCall[Nothing]) -> JsonResponse[IdentityFilesAnswer]:
    """List the identity files (SOUL.md and others), with unaccepted changes, which are not followed yet."""
    return etagged(call.request, _told(await _administration(call).identity(), call))


async def settle_identity(call: EndpointCall[IdentityDecision]) -> JsonResponse[IdentityFilesAnswer]:
    """Accept the shown version of an identity file, or restore the last accepted one."""
    payload = call.payload
    found = await _administration(call).settle_identity(call.id, payload.hash, accept=payload.accept)
    return json_response(_told(found, call))


def _told(found: IdentityFilesAnswer, call: EndpointCall[Any]) -> IdentityFilesAnswer:
    language = language_of(call.request)
    for each in found["files"]:
        each["problem"] = translated(each["problem"], language)
    return found


_same = NamedEndpoints(OWN).same
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
