"""Mail files: RFC 5322 messages."""

from collections.abc import Iterator
from email import message_from_bytes, policy
from email.message import EmailMessage

from hob.core.content.documents import DocumentSection
from hob.tools.documents.formats import html

_HEADERS = ("From", "To", "Cc", "Date")
_MAX_NESTED = 5


def read(data: bytes) -> tuple[str, Iterator[DocumentSection]]:
    """Return the subject, and the text of the message and its attached messages."""
    message = message_from_bytes(data, _class=EmailMessage, policy=policy.default)
    return _header(message, "Subject"), _sections(message, 0)


def _sections(message: EmailMessage, depth: int) -> Iterator[DocumentSection]:
    lines = [f"{name}: {value}" for name in _HEADERS if (value := _header(message, name))]
    subject = _header(message, "Subject")
    nested = []
    body = message.get_body(("plain", "html"))
    text = _text(body) if isinstance(body, EmailMessage) else ""
    for part in message.iter_attachments():
        if part.get_content_type() == "message/rfc822" and depth < _MAX_NESTED:
            nested += [each for each in part.iter_parts() if isinstance(each, EmailMessage)]
        else:
            name = part.get_filename() or "without a name"
            lines.append(f"Attachment: {name} ({part.get_content_type()})")
    yield DocumentSection("\n".join([*lines, "", text.strip()]).strip(), subject)
    for each in nested:
        yield from _sections(each, depth + 1)


def _text(body: EmailMessage) -> str:
    try:
        content = body.get_content()
    except (LookupError, ValueError):
        content = body.get_payload(decode=True)
    if isinstance(content, bytes):
        content = content.decode("utf-8", "replace")
    if not isinstance(content, str):
        return ""
    return html.plain_text(content) if body.get_content_subtype() == "html" else content


def _header(message: EmailMessage, name: str) -> str:
    try:
        return " ".join(str(message.get(name, "")).split())
    except (ValueError, IndexError, AttributeError):  # how the library fails on broken headers
        return ""
