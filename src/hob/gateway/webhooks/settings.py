"""Settings of incoming webhooks, and their templates. Imports only the standard library and the core."""

import json
import re
from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from hob.core.errors import NotConfigured
from hob.core.events.webhooks import check_webhook_names, decode_key
from hob.core.settings import Secret, setting
from hob.core.translation.language import join_texts, translatable
from hob.core.trust.labels import SenderClass
from hob.core.values import dataclass
from hob.gateway.webhooks.schemes import MIN_SECRET, Scheme

# Templates: texts with `{{field.path}}`, filled in from a delivery. There is nothing else: no code, no conditions, no
# loops. A path descends into objects by name and into lists by number; `{{.}}` is everything, `{{@Name}}` a header.
# Missing values are empty; values other than text are written as JSON. Filled-in values are never expanded again, so a
# value cannot inject a placeholder.

# compiled with the first webhook: most homes have none
_PLACE = r"(?s)\{\{(.*?)\}\}"
_PATH = r"\.|@[A-Za-z0-9-]{1,80}|[^\s.{}@][^\s.{}]*(?:\.[^\s.{}]+)*"
_CUT = "…"


def check_template(template: str) -> None:
    """Raise ValueError, which names the first invalid placeholder."""
    for found in re.finditer(_PLACE, template):
        if not re.fullmatch(_PATH, found[1].strip()):
            raise ValueError(
                translatable(
                    "{found} is not a placeholder; write {{{{issue.title}}}} for a field, {{{{items.0}}}} for an "
                    "entry of a list, {{{{.}}}} for everything, {{{{@X-Event}}}} for a header",
                    found=repr(found[0]),
                )
            )


def fill(template: str, body: Any, headers: Mapping[str, str], maximum: int) -> str:
    """Fill in the values of this body; each value, and the whole, is cut to `maximum` characters."""

    def value(found: re.Match[str]) -> str:
        path = found[1].strip()
        if path.startswith("@"):
            return shortened(headers.get(path[1:].lower(), ""), maximum)
        return shortened(text_of(body if path == "." else _find(body, path.split("."))), maximum)

    return shortened(re.sub(_PLACE, value, template), maximum)


def text_of(value: Any) -> str:
    """Return a value as text: texts unchanged, null as nothing, everything else as JSON."""
    if value is None:
        return ""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text.encode("utf-8", "replace").decode()  # JSON may contain lone surrogates, which are not valid text


def shortened(text: str, maximum: int) -> str:
    """Return the text, cut to `maximum` characters."""
    return text if len(text) <= maximum else text[: maximum - 1] + _CUT


def _find(value: Any, path: list[str]) -> Any:
    for part in path:
        if isinstance(value, Mapping):
            value = value.get(part)
        elif isinstance(value, list) and part.isascii() and part.isdecimal() and len(part) < 10:
            place = int(part)
            value = value[place] if place < len(value) else None
        else:
            return None
    return value


_TASK = "Something outside called this webhook. Say in a line or two what it reports, and whether it needs me."


class AnswerTo(StrEnum):
    """Where Hob's answer to a delivery goes."""

    TIMELINE = "timeline"
    OWNER = "owner"


@dataclass(frozen=True, slots=True)
class WebhookSettings:
    """One incoming webhook."""

    secret: Secret | None = setting(
        None, "The secret that deliveries are signed with, 16 characters or more; required."
    )
    other_secrets: list[Secret] = setting([], "More secrets to accept, e.g. the old one for a while.")
    scheme: Scheme = setting(
        Scheme.HOB,
        "How deliveries are signed: as GitHub, Stripe or Standard Webhooks do, `hob` (HMAC-SHA256 of the "
        "body), or with a token instead of a signature (`token`).",
    )
    header: str = setting("", "The header with the signature or token; not set: the scheme's usual one.")
    tolerance_seconds: float = setting(
        300.0,
        "Maximum seconds between the signed time and now, for schemes that sign one.",
        at_least=1,
        at_most=86_400,
    )
    task: str = setting(_TASK, "What Hob does with a delivery, in your words.")
    template: str = setting("{{.}}", "What the model is shown of it: a text with {{field.path}} from the body.")
    session: str = setting("", "The conversation it goes to; may contain {{field.path}}; not set: one of its own.")
    sender: SenderClass = setting(
        SenderClass.STRANGER, "Whose messages they count as; instructions in them are never followed."
    )
    answer: AnswerTo = setting(
        AnswerTo.TIMELINE, "Where Hob's answer goes: to the timeline only, or to you, where you wrote last."
    )
    model: str = setting("", "The model that answers; not set: the default model.")
    characters: int = setting(
        8_000, "Maximum characters of a delivery that the model is shown.", at_least=100, at_most=40_000
    )
    body_bytes: int = setting(250_000, "Maximum body, in bytes; `gateway.body_bytes` applies as well.", at_least=100)
    per_minute: int = setting(60, "Maximum deliveries per minute.", at_least=1)

    def __post_init__(self) -> None:
        """Raises ValueError for settings that can never work."""
        if self.secret is None:
            raise ValueError(translatable("secret is missing; without it no delivery can prove where it is from"))
        for key, text in (("template", self.template), ("session", self.session)):
            try:
                check_template(text)
            except ValueError as error:
                raise ValueError(join_texts(": ", (key, str(error)))) from None
        if not self.task.strip() or self.task.lstrip().startswith("/"):
            raise ValueError(translatable("task says in words what Hob should do; it cannot be a slash command"))
        if "{{" in self.task:
            raise ValueError(translatable("task holds your own words only; put the sender's fields into the template"))
        if self.header and not (self.header.isascii() and self.header.replace("-", "").isalnum()):
            raise ValueError(translatable("header: {name} is not the name of a header", name=repr(self.header)))

    @property
    def secrets(self) -> tuple[Secret, ...]:
        """All valid secrets."""
        assert self.secret is not None  # noqa: S101 - checked in __post_init__
        return (self.secret, *self.other_secrets)

    def problem(self) -> str:
        """Return why no delivery could be authenticated, or an empty text."""
        try:
            known = [each.reveal() for each in self.secrets]
        except NotConfigured as error:
            return str(error)
        if any(len(each) < MIN_SECRET for each in known):
            return f"a secret has less than {MIN_SECRET} characters; `openssl rand -hex 32` makes a good one"
        if self.scheme is Scheme.STANDARD:
            try:
                for each in known:
                    decode_key(each)
            except ValueError as error:
                return f"a secret is not as Standard Webhooks writes them: {error}"
        return ""


class Webhooks(dict[str, WebhookSettings]):
    """Incoming webhooks: what other machines may send to `POST /hooks/NAME`, by name."""

    def __init__(self, entries: Mapping[str, WebhookSettings] = MappingProxyType({})) -> None:
        """Raises ValueError for names that cannot be part of a URL."""
        super().__init__(entries)
        check_webhook_names(entries)
