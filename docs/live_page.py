"""The page about `/ws`, generated from its tables."""

import inspect
import json
import re
from collections.abc import Callable, Iterator
from typing import Any

from markdown import cell

from hob.gateway.approvals import ApprovalAnswer
from hob.gateway.http.failures import ErrorBody
from hob.gateway.http.fields import Field, fields_of
from hob.gateway.http.listener import PING_SECONDS
from hob.gateway.live import connected, connection, frames
from hob.gateway.live.kinds import MessageKind
from hob.gateway.live.messages import MESSAGES
from hob.gateway.live.table import CLOSES, KINDS
from hob.gateway.routes.views import EventAnswer, UsageAnswer


def live(
    told: Callable[[Field], str],
    answer_table: Callable[[Any, list[Any]], Iterator[str]],
    words: Callable[[Any], str],
) -> str:
    """Return the page; `told` describes a field, `answer_table` an answer's fields, `words` names an answer."""
    lines = [
        "# WebSocket",
        "",
        "`/ws`, on the address of the [API](api.md) and on its Unix socket: everything that happens, and the chat,",
        "over one connection ([how to use it](../how-to/follow-hob-live.md)). Messages are JSON objects, one in each",
        "text message, both ways.",
        "",
        *_opening(),
        "## What you say",
        "",
        "Every message has a `type`, and may have a `ref`, 1 to 64 characters of your own: all that is said because of",
        "it carries the same `ref`. A field that is not known is refused.",
        "",
    ]
    for kind in KINDS:
        lines += _kind(kind, told)
    lines += [
        "## What you are told",
        "",
        "| type | meaning | fields |",
        "|---|---|---|",
        *(f"| `{each.name}` | {cell(each.meaning)} | {_fields(each.form, words)} |" for each in MESSAGES.values()),
        "",
        "More fields, and more types, may come: ignore those that you do not know.",
        "",
    ]
    shown = [UsageAnswer, ErrorBody, *(each.form for each in MESSAGES.values() if not _is_live(each.form))]
    shown += [ApprovalAnswer, EventAnswer]  # these are on the API's page
    for message in MESSAGES.values():
        if message.form.__annotations__:
            lines += answer_table(message.form, shown)
    lines += [
        "## How it ends",
        "",
        "| close code | meaning |",
        "|---|---|",
        *(f"| {code} | {cell(text)} |" for code, text in CLOSES.items()),
    ]
    here = {line.lstrip("# ").lower().replace(" ", "-") for line in lines if line.startswith("#")}
    return re.sub(
        r"\(#([a-z-]+)\)", lambda link: link[0] if link[1] in here else f"(api.md#{link[1]})", "\n".join(lines)
    )


def _opening() -> list[str]:
    return [
        "## Opening",
        "",
        "The token goes into the handshake's `Authorization: Bearer ...`, or, from a web page, which can set no",
        f"header, into the first message (`hello`) within {connection.HELLO_SECONDS:g} seconds. It never goes into the",
        "address: any query is refused. The Unix socket asks for none. Either way `welcome` comes; say nothing else",
        "before.",
        "",
        "Host, Origin and wrong tokens are treated as over HTTP ([codes](errors.md#over-http)): what is refused in the",
        'handshake is answered with a status and `{"error": {"code": ..., "message": ...}}`.',
        "",
        "| limit | |",
        "|---|---|",
        f"| connections | {connected.MAX_CONNECTED}; more are answered with 503 |",
        f"| connections before `hello` | {connected.MAX_UNAUTHENTICATED}; then the oldest of the address"
        " with most of them is closed |",
        f"| a message of yours | `gateway.body_bytes`; {frames.MAX_UNAUTHENTICATED_BYTES} bytes before `welcome` |",
        f"| messages of yours | {connection.BURST} at once, {connection.PER_SECOND:g} a second in the long run |",
        f"| followed at once | {connection.MAX_AT_ONCE} messages and subscriptions |",
        f"| reading | who reads nothing for {connection.SLOW_SECONDS:g} seconds is let go |",
        f"| pings | one every {PING_SECONDS:g} seconds, answered within as many |",
        "",
    ]


def _kind(kind: MessageKind[Any], told: Callable[[Field], str]) -> Iterator[str]:
    scopes = [f"`{each.value}`" for each in (kind.scope, *kind.also) if each is not None]
    scope = f"scope {' or '.join(scopes)}" if scopes else "everybody"
    yield from (f"### `{kind.name}`", "", f"For {scope}.", "", inspect.getdoc(kind.handler) or "", "")
    if fields := fields_of(kind.takes):
        yield from ("| field | meaning |", "|---|---|")
        for field in fields:
            required = "; required" if field.required else ""
            yield f"| `{field.name}` | {cell(told(field))}{required} |"
        yield ""
    sample = {"type": kind.name, "ref": "1", **_SAMPLES.get(kind.name, {})}
    yield from ("```json", json.dumps(sample), "```", "")
    named = ", ".join(f"`{each.name}`" for each in kind.answers)
    codes = ", ".join(f"`{code}`" for code in kind.errors)
    yield f"Answered with {named}{f'; may fail with {codes}' if codes else ''}."
    yield ""


_SAMPLES: dict[str, dict[str, Any]] = {
    "hello": {"token": "hob_..."},
    "subscribe": {"after": 1041, "kinds": ["turn", "approval"]},
    "send": {"key": "7f3k-1", "message": "hello", "session": "work"},
    "follow": {"id": "m_7f3k9q2x0b1d4h"},
    "stop": {"id": "m_7f3k9q2x0b1d4h"},
    "answer": {"approval": "a_7f3k9q2x", "allowed": True},
}


def _is_live(answer: Any) -> bool:
    """Whether the answer is a message of `/ws` and of no route."""
    return answer.__name__.endswith("Message")


def _fields(answer: Any, words: Callable[[Any], str]) -> str:
    """Return a link to the answer's table, here or on the API's page."""
    if not answer.__annotations__:
        return ""
    page = "" if _is_live(answer) else "api.md"
    return f"[{words(answer).lower()}]({page}#{words(answer).lower().replace(' ', '-')})"
