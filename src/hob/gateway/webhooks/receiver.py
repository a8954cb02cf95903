"""Receiving a webhook: signature, rate limit, size, and the message it becomes."""

import hashlib
import hmac
import logging
import os
from collections import deque
from collections.abc import Mapping
from dataclasses import field
from functools import cache
from typing import Any
from urllib.parse import parse_qsl

from hob.core.clock import Clock
from hob.core.errors import InvalidRequest
from hob.core.ids import ONE_TURN_PREFIX, SessionKey, new_inbound_id, new_trace_id
from hob.core.messages import WEBHOOK_CHANNEL, Address, Inbound, Quoted, Sender
from hob.core.settings import Secret
from hob.core.trust.labels import HOB_LABEL, Label, Origin, Trust
from hob.core.values import dataclass
from hob.gateway.http.failures import HttpRefusal
from hob.gateway.http.json_body import parse_json
from hob.gateway.webhooks.schemes import Scheme, SignatureInvalid, verify
from hob.gateway.webhooks.settings import WebhookSettings, fill, text_of

# Bodies are JSON, or forms, which older senders post.

_FORM = "application/x-www-form-urlencoded"
_MAX_FIELDS = 1_000


def read_body(body: bytes, content_type: str, scheme: Scheme) -> Any:
    """Parse the body. Raises InvalidRequest and HttpRefusal."""
    media_type = content_type.partition(";")[0].strip().lower()
    if media_type == _FORM and scheme is not Scheme.STRIPE:  # the type is not signed, and a form hides the event's id
        fields = _read_form(body)
        if scheme is Scheme.GITHUB and set(fields) == {"payload"}:  # GitHub's form content type wraps the same JSON
            return parse_json(str(fields["payload"]).encode("utf-8", "surrogatepass"))
        return fields
    if media_type == "application/json" or (media_type.startswith("application/") and media_type.endswith("+json")):
        return parse_json(body)
    raise HttpRefusal("not_json", f"send the body as `Content-Type: application/json`, or as {_FORM}")


def _read_form(body: bytes) -> dict[str, Any]:
    try:
        pairs = parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=_MAX_FIELDS)
    except ValueError as error:
        raise InvalidRequest(f"the body is no form: {error}") from error
    fields: dict[str, Any] = {}
    for name, value in pairs:
        fields[name] = [*_as_list(fields[name]), value] if name in fields else value
    return fields


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


HOPS = "x-hob-hops"
"""Header with the number of machine messages between a delivery and a person's words."""
_MINUTE = 60.0
_MAX_SESSION = 80
_UNTRUSTED = Label(Origin.WEB, Trust.UNTRUSTED)

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Delivery:
    """An authenticated delivery. `id` identifies it: the sender's id for it, or its body's hash."""

    name: str
    settings: WebhookSettings
    id: str
    value: Any
    headers: Mapping[str, str]

    @property
    def claimed(self) -> tuple[str, ...]:
        """The ids under which Hob itself may have sent the delivery, from header and body."""
        inside = self.value.get("id") if isinstance(self.value, Mapping) else None
        return tuple(each for each in (self.headers.get("webhook-id"), inside) if each and isinstance(each, str))

    @property
    def hops(self) -> int:
        """The number of hops that the delivery claims."""
        inside = self.value.get("hops") if isinstance(self.value, Mapping) else 0
        header = self.headers.get(HOPS, "")
        said = int(header) if header.isascii() and header.isdecimal() and len(header) < 4 else 0
        return max(said, inside if type(inside) is int and 0 < inside < 1_000 else 0)


@dataclass(frozen=True, slots=True)
class WebhookReceiver:
    """The webhooks of these settings."""

    webhooks: Mapping[str, WebhookSettings] = field(default_factory=dict)
    _taken: dict[str, deque[float]] = field(default_factory=dict)

    def proven(self, name: str, headers: Mapping[str, str], body: bytes, now: float) -> str:
        """Return the id that the signature covers, if any.

        Raises SignatureInvalid, which takes the same time for unknown webhooks.
        """
        settings = self.webhooks.get(name) or _unknown_webhook()
        tolerance, header = settings.tolerance_seconds, settings.header
        try:
            if problem := settings.problem():
                raise SignatureInvalid(problem)
            known = [each.reveal() for each in settings.secrets]
            return verify(settings.scheme, known, headers, body, now=now, tolerance=tolerance, header=header)
        except SignatureInvalid as wrong:
            if not wrong.sealed:  # otherwise the time would reveal which webhooks exist
                hmac.digest(b"nobody", body, hashlib.sha256)
            raise

    def read(self, name: str, id: str, headers: Mapping[str, str], body: bytes) -> Delivery:
        """Return an authenticated delivery. Raises InvalidRequest and HttpRefusal."""
        settings = self.webhooks[name]
        if len(body) > settings.body_bytes:
            raise HttpRefusal("too_large", f"the body may have {settings.body_bytes} bytes")
        value = read_body(body, headers.get("content-type", ""), settings.scheme)
        if settings.scheme is Scheme.STRIPE and isinstance(value, Mapping):
            # retries of one event may differ in the body, and the id is signed too
            id = text_of(value.get("id"))[:255]
        # without a signature the body is the id, so that a replay cannot change it
        seal = f"id {id}" if id else f"body {hashlib.sha256(body).hexdigest()}"
        return Delivery(name, settings, seal, value, headers)

    def count(self, name: str, clock: Clock) -> None:
        """Count a delivery. Raises HttpRefusal if there are too many."""
        maximum, now = self.webhooks[name].per_minute, clock.monotonic()
        taken = self._taken.setdefault(name, deque(maxlen=maximum))
        if len(taken) == maximum and (left := taken[0] + _MINUTE - now) > 0:
            raise HttpRefusal("busy_sender", f"{maximum} deliveries in a minute are taken here", max(1, round(left)))
        taken.append(now)


@cache
def _unknown_webhook() -> WebhookSettings:
    """Return a webhook with a random secret, used in place of unknown ones."""
    return WebhookSettings(Secret.of(os.urandom(32).hex()))


def inbound_of(delivery: Delivery, clock: Clock) -> Inbound:
    """Return the message: the owner's task, with the delivery's data as the template shows it, quoted."""
    name, settings = delivery.name, delivery.settings
    shown = fill(settings.template, delivery.value, delivery.headers, settings.characters)
    if not shown.strip():
        raise InvalidRequest("the webhook's template finds nothing in this body")
    id, thread = new_inbound_id(), _thread(delivery)
    return Inbound(
        id=id,
        key=f"{name} {delivery.id}",
        origin=Address(WEBHOOK_CHANNEL, name, thread=thread),
        sender=Sender(name, f"webhook {name}", settings.sender),
        text=settings.task,
        label=HOB_LABEL,
        trace=new_trace_id(),
        quoted=(Quoted(shown, _UNTRUSTED),),
        model=settings.model or None,
        sent_at=clock.now(),
        hops=delivery.hops,
        background=True,
        # otherwise the next delivery would see this one's content, and all of it would be paid for each time
        session=None if thread else SessionKey(f"{ONE_TURN_PREFIX}{WEBHOOK_CHANNEL}/{name}/{id}"),
    )


def _thread(delivery: Delivery) -> str:
    """Return the name of the session that deliveries share, if any, in characters valid in a key; long names end in a
    hash.
    """
    named = fill(delivery.settings.session, delivery.value, delivery.headers, 1_000)
    plain = "-".join("".join(char if char.isalnum() or char in "._-" else " " for char in named).split())
    if plain == named and len(plain) <= _MAX_SESSION:
        return plain
    return f"{plain[:_MAX_SESSION]}-{hashlib.sha256(named.encode()).hexdigest()[:8]}" if named.strip() else ""
