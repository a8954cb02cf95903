"""Pasted parts of a message: quoted lines, blocks, logs, HTML, forwarded mail, long texts.

They are recognised by form alone. Without other evidence, e.g. from the terminal, a short pasted line counts as typed.
"""

import re
from collections.abc import Iterator

MAX_TYPED_CHARACTERS = 4_000
"""Maximum characters that count as typed; longer texts were pasted."""

_FORWARDED = re.compile(
    r"^[ \t]*(?:-{2,}[ ]?(?:forwarded|original|weitergeleitet|ursprüngliche)\b.*"
    r"|(?:begin forwarded message|anfang der weitergeleiteten nachricht):.*"
    r"|\*?(?:from|von):\*? .*\n(?:.*\n){0,6}?\*?(?:subject|betreff):.*"
    r"|(?:on|am|le) .{4,200}(?:wrote|schrieb|écrit)[^\n]{0,80}:[ \t]*)$",
    re.MULTILINE | re.IGNORECASE,
)
_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,}).*?(?:^[ \t]*\1[`~]*[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_QUOTE = re.compile(
    "^[ \t\u00a0\u200b-\u200d\u2060\ufeff]*(?:\\|?[>\uff1e]|[\u2502\u2503\u258c\u258e]).*$", re.MULTILINE
)
_LOG = re.compile(
    r"^[ \t\u200e]*(?:\[\d{1,2}[./]\d{1,2}[./]\d{2,4},? \d{1,2}:\d\d[^\]\n]{0,8}\] [^:\n]{1,60}:"  # of a messenger
    r"|(?:<\d+>|\[)?(?:\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d|[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d"
    r"|\d\d:\d\d:\d\d[.,]\d{3})|\[?(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|FATAL|CRITICAL)[:\]]"
    r"|\S{1,60} \S{1,60} \S{1,60} \[\d\d/[A-Z][a-z]{2}/\d{4}:|Traceback \(most recent call last\):).*"
    r"(?:\n[ \t]+\S.*)*(?:\n[\w.]{1,80}(?:Error|Exception|Warning|Interrupt|Exit)\b.*)?",
    re.MULTILINE,
)
_TAG = re.compile(
    r"<!doctype\b[^<>]{0,200}>|</?(?:html|head|body|title|meta|link|script|style|div|span|p|a|b|i|u|em|strong|br|hr|img"
    r"|table|thead|tbody|tr|td|th|ul|ol|li|h[1-6]|form|input|button|select|option|label|iframe|svg|pre|code|blockquote"
    r"|section|article|header|footer|nav|main|font|center)(?:\s[^<>]{0,2000})?/?>",
    re.IGNORECASE,
)


_LINE_ENDS = str.maketrans(dict.fromkeys("\r\x0b\x0c\x85\u2028\u2029", "\n"))


def _plain_lines(text: str) -> str:
    """Return a text of the same length, with line feeds as its only line ends."""
    return text.replace("\r\n", " \n").translate(_LINE_ENDS)


def split_forwarded(text: str) -> tuple[str, str]:
    """Split a message at the line with which mail programs mark forwarded text."""
    mark = _FORWARDED.search(_plain_lines(text))
    return (text, "") if mark is None else (text[: mark.start()], text[mark.start() :])


def split_pasted(text: str) -> tuple[tuple[str, bool], ...]:
    """Return the parts of a message in order, each with whether it was pasted or quoted."""
    parts: list[tuple[str, bool]] = []
    at = 0
    for start, end in _merge_spans(text):
        parts += [(text[at:start].strip("\n"), False), (text[start:end].strip("\n"), True)]
        at = end
    parts.append((text[at:].strip("\n") if at else text, False))
    return tuple((part, pasted) for part, pasted in parts if part.strip())


def is_long(text: str) -> bool:
    """Whether the text that is not visibly pasted is too long to have been typed."""
    return sum(len(part) for part, pasted in split_pasted(text) if not pasted) > MAX_TYPED_CHARACTERS


def has_pasted_text(text: str) -> bool:
    """Whether any part of a message may have been written by others."""
    return len(text) > MAX_TYPED_CHARACTERS or any(pasted for _, pasted in split_pasted(text))


def _merge_spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield the positions of pasted text without overlap."""
    at, last = -1, -1
    for start, end in sorted(_find_spans(_plain_lines(text))):
        if at < 0:
            at, last = start, end
        elif start <= last or not text[last:start].strip():
            last = max(last, end)
        else:
            yield at, last
            at, last = start, end
    if at >= 0:
        yield at, last


def _find_spans(text: str) -> Iterator[tuple[int, int]]:
    for pattern in (_FENCE, _QUOTE, _LOG):
        for found in pattern.finditer(text):
            yield found.span()
    tags = list(_TAG.finditer(text))
    if any(tag[0][:2] in ("</", "<!") for tag in tags):  # a tag that is only mentioned is not a document
        yield tags[0].start(), tags[-1].end()
    own, _ = split_forwarded(text)
    if len(own) < len(text):
        yield len(own), len(text)
