"""Settings of outgoing webhooks. Imports only the standard library and core."""

from collections.abc import Mapping
from types import MappingProxyType
from urllib.parse import urlsplit

from hob.core.content.capabilities import Capabilities
from hob.core.errors import NotConfigured
from hob.core.events.webhooks import check_webhook_names, decode_key
from hob.core.settings import Secret, setting
from hob.core.translation.language import translatable
from hob.core.values import dataclass

CAPABILITIES = Capabilities(replies=True, edits=True, deletes=True, reactions=True, polls=True, buttons=25)
"""Receivers of webhooks get messages as plain events."""

EVENTS = ("turn.done", "turn.failed", "approval.asked", "alert")
"""The events that a webhook may receive."""


@dataclass(frozen=True, slots=True)
class WebhookOutSettings:
    """A receiver of webhooks."""

    url: str = setting("", "Address that is called, such as https://example.org/hob; required.")
    secret: Secret | None = setting(
        None, "Signing secret as in Standard Webhooks: whsec_ and base64, or any text; required."
    )
    other_secrets: list[Secret] = setting(
        [], "Additional signing secrets, e.g. the new one until the receiver knows it."
    )
    events: list[str] = setting(list(EVENTS), "The events it receives.", one_of=EVENTS)
    text: bool = setting(False, "Include message texts; otherwise only who, when and how it ended.")
    allow_private: bool = setting(False, "Allow addresses on this machine or in your network, and plain http.")
    seconds: float = setting(15.0, "Seconds within which it must answer.", at_least=1, at_most=60)

    def __post_init__(self) -> None:
        """Raise ValueError for an unusable receiver."""
        if self.secret is None:
            raise ValueError(translatable("secret is missing; without it the receiver cannot tell who sent a delivery"))
        try:
            parts = urlsplit(self.url)
            sound = bool(parts.hostname) and (parts.port is None or parts.port > 0)
        except ValueError:
            parts, sound = urlsplit(""), False
        if not sound or parts.scheme not in {"http", "https"} or not self.url.isprintable() or " " in self.url:
            raise ValueError(translatable("url is not an address; write it like https://example.org/hob"))
        if parts.username is not None or parts.fragment:
            raise ValueError(translatable("url may hold no user and no fragment; the signature proves who sends"))
        if parts.scheme == "http" and not self.allow_private:
            raise ValueError(
                translatable("url is plain http, which others can read on the way; use https or set allow_private")
            )

    @property
    def secrets(self) -> tuple[Secret, ...]:
        """Return all signing secrets."""
        assert self.secret is not None  # noqa: S101 - seen to above
        return (self.secret, *self.other_secrets)

    def problem(self) -> str:
        """Return why nothing can be signed, or an empty string."""
        try:
            for each in self.secrets:
                decode_key(each.reveal())
        except (NotConfigured, ValueError) as error:
            return str(error)
        return ""


class WebhooksOut(dict[str, WebhookOutSettings]):
    """Outgoing webhooks, which notify other machines of events, by name."""

    def __init__(self, entries: Mapping[str, WebhookOutSettings] = MappingProxyType({})) -> None:
        """Raise ValueError for unusable names."""
        super().__init__(entries)
        check_webhook_names(entries)
