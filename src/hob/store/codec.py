"""Stored forms of values: JSON with a version number. Readers accept every older version."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache
from typing import Any

from hob.core.ids import BlobId, CallId, InboundId, SessionKey, TraceId
from hob.core.messages import (
    UNKNOWN_TIME,
    Address,
    Attachment,
    Button,
    Inbound,
    Outbound,
    OutboundAction,
    Quoted,
    Sender,
)
from hob.core.models import Image, TranscriptEntry
from hob.core.response_options import ClientTool, ResponseOptions
from hob.core.tools import ToolCall
from hob.core.trust.labels import Label, Origin, SenderClass, Trust
from hob.core.trust.scopes import TokenScope

INBOUND_VERSION = 1
ENTRY_VERSION = 1


def dump_json(value: Any) -> str:
    """Return compact JSON."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def dump_inbound(inbound: Inbound) -> str:
    """Return everything of the message except its text; default values are omitted."""
    return dump_json(
        _without_none(
            {
                "id": inbound.id,
                "key": inbound.key,
                "origin": [inbound.origin.channel, inbound.origin.chat, inbound.origin.account, inbound.origin.thread],
                "sender": [inbound.sender.id, inbound.sender.name, inbound.sender.cls],
                "label": [inbound.label.origin, inbound.label.trust],
                "trace": inbound.trace,
                "attachments": _dump_attachments(inbound.attachments) or None,
                "quoted": [[q.text, q.label.origin, q.label.trust] for q in inbound.quoted] or None,
                "session": inbound.session,
                "model": inbound.model,
                "sent_at": None if inbound.sent_at == UNKNOWN_TIME else inbound.sent_at.timestamp(),
                "hops": inbound.hops or None,
                "background": inbound.background or None,
                "group": inbound.group or None,
                "mentioned": inbound.mentioned or None,
                "scopes": None if inbound.scopes is None else sorted(inbound.scopes),
                "terms": None if inbound.terms is None else _dump_terms(inbound.terms),
            }
        )
    )


def _without_none(values: Mapping[str, Any]) -> dict[str, Any]:
    """Drop values that are None."""
    return {name: value for name, value in values.items() if value is not None}


def _dump_terms(terms: ResponseOptions) -> Mapping[str, Any]:
    tools = [[tool.name, tool.description, tool.schema] for tool in terms.tools]
    return {"tools": tools, "choice": terms.choice, "form": terms.form, "stop": terms.stop}


def _load_terms(data: Mapping[str, Any] | None) -> ResponseOptions | None:
    if data is None:
        return None
    tools = tuple(ClientTool(*tool) for tool in data["tools"])
    return ResponseOptions(tools, data["choice"], data["form"], tuple(data["stop"]))


def load_inbound(version: int, text: str, body: str) -> Inbound:
    """Load a stored message. Raises ValueError for an unknown version."""
    if version > INBOUND_VERSION:
        raise ValueError(f"an inbound of version {version} was written by a newer Hob")
    data = json.loads(body)
    channel, chat, account, thread = data["origin"]
    sender, name, cls = data["sender"]
    session = data.get("session")
    sent_at, scopes = data.get("sent_at"), data.get("scopes")
    return Inbound(
        id=InboundId(data["id"]),
        key=data["key"],
        origin=Address(channel, chat, account, thread),
        sender=Sender(sender, name, SenderClass(cls)),
        text=text,
        label=load_label(*data["label"]),
        trace=TraceId(data["trace"]),
        attachments=_load_attachments(data),
        quoted=tuple(Quoted(words, load_label(origin, trust)) for words, origin, trust in data.get("quoted", ())),
        session=None if session is None else SessionKey(session),
        model=data.get("model"),
        sent_at=UNKNOWN_TIME if sent_at is None else datetime.fromtimestamp(sent_at, UTC),
        hops=data.get("hops", 0),
        background=data.get("background", False),
        group=data.get("group", False),
        mentioned=data.get("mentioned", False),
        scopes=None if scopes is None else frozenset(map(TokenScope, scopes)),
        terms=_load_terms(data.get("terms")),
    )


def _dump_attachments(attachments: Sequence[Attachment]) -> Sequence[Sequence[Any]]:
    return [[a.media_type, a.name, a.blob, a.link, a.size, *((True,) if a.voice else ())] for a in attachments]


def _load_attachments(data: Mapping[str, Any]) -> tuple[Attachment, ...]:
    return tuple(
        Attachment(kind, name, None if blob is None else BlobId(blob), link, size, *voice)
        for kind, name, blob, link, size, *voice in data.get("attachments", ())
    )


def dump_form(outbound: Outbound) -> str:
    """Return everything of a message except its text; empty if there is nothing."""
    data = _without_none(
        {
            "action": None if outbound.action is OutboundAction.SEND else outbound.action,
            "about": outbound.about or None,
            "attachments": _dump_attachments(outbound.attachments) or None,
            "buttons": [[each.label, each.answer] for each in outbound.buttons] or None,
            "poll": outbound.poll or None,
            "spelled": outbound.spelled or None,
        }
    )
    return dump_json(data) if data else ""


def load_form(outbound: Outbound, text: str | None) -> Outbound:
    """Restore what a message has besides its text."""
    if not text:
        return outbound
    data = json.loads(text)
    return replace(
        outbound,
        action=OutboundAction(data.get("action", OutboundAction.SEND)),
        about=data.get("about", ""),
        attachments=_load_attachments(data),
        buttons=tuple(Button(label, answer) for label, answer in data.get("buttons", ())),
        poll=tuple(data.get("poll", ())),
        spelled=data.get("spelled", False),
    )


@cache  # there are few labels, and every row has one
def load_label(origin: str, trust: str) -> Label:
    """Load a stored label."""
    return Label(Origin(origin), Trust(trust))


def dump_extra(entry: TranscriptEntry) -> str:
    """Return everything of an entry except its text; empty if there is nothing."""
    data = _without_none(
        {
            "calls": [[call.id, call.name, call.arguments] for call in entry.calls] or None,
            "call": entry.call,
            "is_error": entry.is_error or None,
            "images": [[image.blob, image.media_type] for image in entry.images] or None,
        }
    )
    return dump_json(data) if data else ""


ENTRY_COLUMNS = "t.n, t.version, t.role, t.turn, t.at, t.origin, t.trust, c.text, x.text"
ENTRY_TABLES = "transcript t JOIN content c ON c.id = t.text LEFT JOIN content x ON x.id = t.extra"


def load_entry(row: Sequence[Any]) -> TranscriptEntry:
    """Load an entry from a row of ENTRY_COLUMNS. Raises ValueError for an unknown version."""
    n, version, role, turn, at, origin, trust, text, extra = row
    if version > ENTRY_VERSION:
        raise ValueError(f"a transcript entry of version {version} was written by a newer Hob")
    label = load_label(origin, trust)
    if not extra:
        return TranscriptEntry(n, role, text or "", label, turn, at)
    data = json.loads(extra)
    call = data.get("call")
    return TranscriptEntry(
        n,
        role,
        text or "",
        label,
        turn,
        at,
        calls=tuple(ToolCall(CallId(id), name, arguments) for id, name, arguments in data.get("calls", ())),
        call=None if call is None else CallId(call),
        is_error=data.get("is_error", False),
        images=tuple(Image(BlobId(blob), kind) for blob, kind in data.get("images", ())),
    )
