"""Conversations sent by clients: the message to answer and the history before it.

Only the last message counts as the caller's own. History, and system or developer messages of a program, have unknown
authors: they are passed on as quoted, untrusted material of the origin `client`.
"""

import base64
import binascii
from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import unquote_to_bytes

from hob.core.content.media_types import HEAD_BYTES, detect_media_type
from hob.core.messages import Quoted
from hob.core.trust.labels import Label, Origin, Trust
from hob.core.values import dataclass
from hob.gateway.http.failures import HttpRefusal
from hob.gateway.openai.errors import wrong

CLIENT_LABEL = Label(Origin.CLIENT, Trust.UNTRUSTED)
_MAX_FILES = 32
MAX_BEFORE = 1_000_000
"""Characters of history accepted with a message; prompts shorten it further to fit the model's window."""
_SYSTEM = "What the calling program says of how to answer:"
_EARLIER = "What was said before, as the calling program tells it:"
_ROLES = ("system", "developer", "user", "assistant")
_TEXTS = frozenset({"text", "input_text", "output_text"})
_IMAGES = frozenset({"image_url", "input_image"})
_FILES = frozenset({"file", "input_file"})
_SHOWN = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
"""Image types that every model server accepts."""
_WRITTEN = frozenset({"application/pdf", "application/rtf"})
"""Formats that may look like text but are not."""


@dataclass(frozen=True, slots=True)
class UploadedFile:
    """A file within a message."""

    data: bytes
    name: str
    text: str = ""
    """Its text, if it is read as text."""


@dataclass(frozen=True, slots=True)
class ClientMessage:
    """One message of the conversation."""

    role: str
    text: str
    files: tuple[UploadedFile, ...] = ()


@dataclass(frozen=True, slots=True)
class ConversationRequest:
    """The message to answer with the conversation's files, and the history before it."""

    text: str
    files: tuple[UploadedFile, ...] = ()
    quoted: tuple[Quoted, ...] = ()


def letter_of(said: Sequence[ClientMessage], param: str, *, remembered: bool) -> ConversationRequest:
    """Build the request from the last message and, unless Hob has the history, the others. Raises HttpRefusal."""
    last = said[-1] if said else None
    if last is None or last.role != "user":
        raise wrong(param, "the last message must be the user's, for it is what is answered")
    if not last.text.strip() and all(file.text for file in last.files):
        raise wrong(f"{param}[{len(said) - 1}].content", "there is nothing to answer; say something")
    files = last.files if remembered else tuple(file for each in said for file in each.files)
    if len(files) > _MAX_FILES:
        raise wrong(param, f"{len(files)} files are too many; send at most {_MAX_FILES}")
    earlier = () if remembered else tuple(_before(said[:-1]))
    before = (*earlier, *(_read_out(file) for file in files if file.text))
    if (length := sum(len(part.text) for part in before)) > MAX_BEFORE:
        told = f"{param}: {length} characters beside the last message are too many; send at most {MAX_BEFORE}"
        raise HttpRefusal("context_length_exceeded", told, param=param)
    return ConversationRequest(last.text, tuple(file for file in files if not file.text), before)


def _before(said: Sequence[ClientMessage]) -> Iterator[Quoted]:
    system = [each.text for each in said if each.role in ("system", "developer") and each.text]
    earlier = [f"{each.role}: {each.text}" for each in said if each.role in ("user", "assistant") and each.text]
    if system:
        yield Quoted("\n\n".join([_SYSTEM, *system]), CLIENT_LABEL)
    if earlier:
        yield Quoted("\n\n".join([_EARLIER, *earlier]), CLIENT_LABEL)


def _read_out(file: UploadedFile) -> Quoted:
    return Quoted(f"File {file.name or 'without a name'}:\n\n{file.text}", CLIENT_LABEL)


def read_messages(messages: Sequence[Any], param: str) -> list[ClientMessage]:
    """Parse the messages of a chat, or the input items of a response. Raises HttpRefusal."""
    return [_read(each, f"{param}[{place}]") for place, each in enumerate(messages)]


def plain_text(content: Any, param: str) -> str:
    """Return the text of a content value. Raises HttpRefusal."""
    return _content(content, f"{param}.content")[0] if content else ""


def _called(message: dict[str, Any], param: str) -> ClientMessage | None:
    """Describe an earlier call or its result in words; None for other messages."""
    kind = message.get("type", "message")
    if kind == "function_call":
        return ClientMessage("assistant", f"[called {message.get('name')} with {message.get('arguments')}]")
    if kind == "function_call_output" or message.get("role") in ("tool", "function"):
        text = plain_text(message.get("output") or message.get("content"), param)
        return ClientMessage("assistant", f"[result: {text}]")
    if kind == "reasoning":
        return ClientMessage("assistant", "")
    if calls := message.get("tool_calls"):
        named = [each.get("function") or {} for each in calls if isinstance(each, dict)]
        told = "".join(f"\n[called {each.get('name')} with {each.get('arguments')}]" for each in named)
        return ClientMessage("assistant", (plain_text(message.get("content"), param) + told).strip())
    return None


def _read(message: Any, param: str) -> ClientMessage:
    if not isinstance(message, dict):
        raise wrong(param, "a message is an object with `role` and `content`")
    if (called := _called(message, param)) is not None:
        return called
    if message.get("type", "message") != "message":
        raise wrong(f"{param}.type", "only messages, calls and their results are read here; leave other items out")
    if message.get("function_call"):
        raise wrong(param, "the older `function_call` is not read; send `tool_calls`")
    role = message.get("role")
    if role not in _ROLES:
        raise wrong(f"{param}.role", f"it must be one of {', '.join(_ROLES)}")
    content = message.get("content")
    if content is None and role == "assistant":
        content = message.get("refusal") or ""
    text, files = _content(content, f"{param}.content")
    if files and role != "user":
        raise wrong(f"{param}.content", "only the user's messages may hold files")
    return ClientMessage(role, text, files)


def _content(content: Any, param: str) -> tuple[str, tuple[UploadedFile, ...]]:
    if isinstance(content, str):
        return _text(content, param), ()
    if not isinstance(content, list) or not content:
        raise wrong(param, "it must be a text or a list of parts")
    texts, files = [], []
    for place, part in enumerate(content):
        here = f"{param}[{place}]"
        kind = part.get("type") if isinstance(part, dict) else None
        if kind in _TEXTS:
            texts.append(_text(part.get("text"), f"{here}.text"))
        elif kind == "refusal":
            texts.append(_text(part.get("refusal"), f"{here}.refusal"))
        elif kind in _IMAGES:
            files.append(_image(part, here))
        elif kind in _FILES:
            files.append(_file(part, here))
        else:
            raise wrong(here, "only parts of text, images and files are read here")
    return "\n".join(texts), tuple(files)


def _text(text: Any, param: str) -> str:
    if not isinstance(text, str):
        raise wrong(param, "it must be a text")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise wrong(param, "it is not UTF-8 text") from None
    return text


def _image(part: dict[str, Any], param: str) -> UploadedFile:
    found = part.get("image_url")
    url = found.get("url") if isinstance(found, dict) else found
    if not isinstance(url, str) or not url.startswith("data:"):
        why = "Hob fetches no pictures for its callers; send the picture itself as a `data:` URL"
        raise wrong(f"{param}.image_url", why)
    data = _data(url, f"{param}.image_url")
    if detect_media_type(data[:HEAD_BYTES]) not in _SHOWN:
        raise wrong(f"{param}.image_url", "it is no picture that models see; send PNG, JPEG, GIF or WebP")
    return UploadedFile(data, "")


def _file(part: dict[str, Any], param: str) -> UploadedFile:
    inner = part.get("file")
    file: dict[str, Any] = inner if isinstance(inner, dict) else part
    data, name = file.get("file_data"), file.get("filename") or ""
    if not isinstance(data, str) or not isinstance(name, str):
        raise wrong(f"{param}.file_data", "send the file itself as a `data:` URL; none is kept here under an id")
    clean = "".join(char for char in name if char.isprintable())[:200]
    url = data if data.startswith("data:") else f"data:;base64,{data}"
    return _uploaded(_data(url, f"{param}.file_data"), clean, param)


def _uploaded(data: bytes, name: str, param: str) -> UploadedFile:
    """Decode a file: images and audio unchanged, text files as text. Raises HttpRefusal for anything unreadable."""
    kind = detect_media_type(data[:HEAD_BYTES])
    if kind in _SHOWN or kind.startswith("audio/"):
        return UploadedFile(data, name)
    try:
        text = data.decode()
    except UnicodeDecodeError:
        text = ""
    if "\0" in text or not text.strip() or kind in _WRITTEN:
        raise wrong(f"{param}.file_data", f"files of the kind {kind} are not read here; send what it says as text")
    return UploadedFile(data, name, text)


def _data(url: str, param: str) -> bytes:
    """Decode a `data:` URL (https://www.rfc-editor.org/rfc/rfc2397). Raises HttpRefusal."""
    head, comma, body = url.partition(",")
    try:
        packed = head.lower().endswith(";base64")
        data = base64.b64decode(body, validate=True) if packed else unquote_to_bytes(body)
    except (binascii.Error, ValueError):
        data = b""
    if not comma or not data:
        raise wrong(param, "the `data:` URL holds nothing that can be read; write it as data:image/png;base64,...")
    return data
