"""What a model server does besides chats: listing models, counting, embedding, hearing and speaking."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hob.testing.model_server import catalogues, openai_media
from hob.testing.model_server.hypertext import STREAM_END, Action, Asked, End, chunk, dump, spaced, stream_head
from hob.testing.model_server.ollama import Ollama, embed
from hob.testing.model_server.prompt import count
from hob.testing.model_server.replies import Fault, Reply
from hob.testing.model_server.wire import Wire, perform_instead, perform_whole


@dataclass(frozen=True, slots=True)
class Side:
    """One such answer. `asks` is the text that may ask for a fault; a body in pieces is streamed."""

    body: bytes | Sequence[bytes]
    kind: str = "application/json"
    asks: str = ""


def find_side(asked: Asked, path: str, wire: Wire, models: Sequence[str]) -> Side | None:
    """What is answered at this path; None if there is no such path. Raises Refused, and what a wrong shape raises."""
    listed = catalogues.find(asked, path, models)
    if listed is not None:
        return _json(listed)
    match asked.method, path:
        case "GET" | "HEAD", "/":
            return Side(b"Ollama is running", "text/plain; charset=utf-8")
        case "POST", "/v1/audio/transcriptions":
            asks, heard = openai_media.transcription(asked)
            return Side(heard.encode(), "text/plain", asks) if isinstance(heard, str) else _json(heard, asks)
        case "POST", _:
            request = json.loads(asked.body)
            return _posted(asked, request, path, wire, models)
    return None


def _posted(asked: Asked, request: Mapping[str, Any], path: str, wire: Wire, models: Sequence[str]) -> Side | None:
    match path:
        case "/v1/embeddings":
            return _json(openai_media.embeddings(request), openai_media.texts_of(request)[0])
        case "/v1/audio/speech":
            kind, pieces = openai_media.speech(request)
            return Side(pieces, kind, request["input"])
        case "/v1/messages/count_tokens":
            return _json({"input_tokens": count(wire.read(asked, request))})
        case "/api/embed":
            found = request.get("input") or ""
            return _json(embed(request), found if isinstance(found, str) else found[0])
        case "/api/show" if isinstance(wire, Ollama):
            name = catalogues.listed(request.get("model") or request["name"], models)
            return _json(catalogues.show_ollama(name, wire.capabilities))
        case _ if path.endswith(":countTokens"):
            whole = {"totalTokens": (tokens := count(wire.read(asked, request.get("generateContentRequest", request))))}
            return _json({**whole, "promptTokensDetails": [{"modality": "TEXT", "tokenCount": tokens}]})
    return None


def _json(value: object, asks: str = "") -> Side:
    return Side(dump(value).encode(), asks=asks)


def perform_side(wire: Wire, side: Side, reply: Reply | None, number: str, asked: Asked) -> list[Action]:
    """What is done about it; the reply says what goes wrong."""
    fault = reply.fault if reply else None
    if reply and (instead := perform_instead(wire, reply, number, asked, side.kind)):
        return instead
    if isinstance(side.body, bytes):
        return perform_whole(fault, side.body, side.kind, wire.headers(number))
    head = stream_head(side.kind, wire.headers(number))
    pieces = [chunk(piece) for piece in side.body]
    half = pieces[: max(1, len(pieces) // 2)]
    match fault:
        case Fault.CUT_HEADERS:
            return [head, End.DROP]
        case Fault.CUT_MIDDLE | Fault.CUT_AFTER_TEXT | Fault.ERROR_EVENT | Fault.CUT_JSON:
            return [head, *half, End.DROP]
        case Fault.SILENCE_MIDDLE:
            return [head, *half, End.HANG]
        case Fault.EMPTY_ANSWER:
            return [head, STREAM_END]
        case _:
            return spaced([head, *pieces, STREAM_END], 0.002 if fault is Fault.DRIP else 0.0)
