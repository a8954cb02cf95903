"""Splitting long texts into messages that fit a channel.

Preferred places to cut, best first: after a paragraph, a line, a sentence, a word; otherwise between two characters,
but never inside one that consists of several code points (accents, joined emoji, flags). Without code fences, the
joined chunks equal the text. A fence that is open at a cut is closed there and reopened in the next chunk.
"""

from hob.core.values import dataclass

_LOOK_BACK = 32  # longest character in code points; text with more stacked accents may be cut inside a character
_TITLE = 60  # characters


def split_text(text: str, limit: int) -> tuple[str, ...]:
    """Split a text into chunks of at most `limit` code points, in order; an empty text has no chunks.

    Raises ValueError if the limit is below 1.
    """
    if limit < 1:
        raise ValueError(f"a chunk of {limit} characters cannot hold anything")
    if len(text) <= limit:
        return (text,) if text else ()
    chunks: list[str] = []
    fence: _Fence | None = None
    start = 0
    while start < len(text):
        chunk, start, fence = _next_chunk(text, start, limit, fence)
        chunks.append(chunk)
    return tuple(chunks)


def short_title(text: str) -> str:
    """Return the beginning of a text on one line, for use as a title."""
    line = " ".join(text.split())
    return line if len(line) <= _TITLE else line[: _TITLE - 1] + "…"


@dataclass(frozen=True, slots=True)
class _Fence:
    """An open code fence: its marker, the line that reopens it, and where it began."""

    marks: str
    line: str
    at: int


def _next_chunk(text: str, start: int, limit: int, fence: _Fence | None) -> tuple[str, int, _Fence | None]:
    """Return the next chunk, the start of the one after it, and the fence that is open there."""
    opening = fence.line if fence else ""
    if len(text) - start + len(opening) <= limit:
        return opening + text[start:], len(text), None
    if len(opening) * 4 > limit:
        return _next_plain_chunk(text, start, limit)
    reserve = len(fence.marks) + 1 if fence else 0
    for _ in range(4):
        room = limit - len(opening) - reserve
        if room < 1 or reserve * 4 > limit:
            break
        cut = _best_cut(text, start, start + room)
        still = _find_open_fence(text, start, cut, fence)
        if still is not None and still.at - start > room // 2:
            cut, still = still.at, None  # better to begin the code in the next chunk than to split it
        if still is None:
            return opening + text[start:cut], cut, None
        body = opening + text[start:cut]
        closing = still.marks if body.endswith("\n") else "\n" + still.marks
        if len(body) + len(closing) <= limit:
            return body + closing, cut, still
        reserve = len(still.marks) + 1
    return _next_plain_chunk(text, start, limit)


def _next_plain_chunk(text: str, start: int, limit: int) -> tuple[str, int, None]:
    """Return a chunk that ignores fences, for limits so small that their markers would leave no room for text."""
    cut = _best_cut(text, start, min(len(text), start + limit))
    return text[start:cut], cut, None


def _best_cut(text: str, start: int, end: int) -> int:
    """Return the best end for a chunk that may reach `end`; always after `start`."""
    if end >= len(text):
        return len(text)
    minimum = start + (end - start) // 3  # a nicer place further back would make the chunk too short
    for mark in ("\n\n", "\n", ". ", "! ", "? ", "。", " "):
        found = text.rfind(mark, minimum, end)
        if found > start:
            return found + len(mark)
    return _character_cut(text, start, end)


def _character_cut(text: str, start: int, end: int) -> int:
    if text[end - 1].isascii() and text[end].isascii() and text[end - 1 : end + 1] != "\r\n":
        return end
    for cut in range(end, max(start, end - _LOOK_BACK), -1):
        if _is_boundary(text, start, cut):
            return cut
    return end


def _is_boundary(text: str, start: int, cut: int) -> bool:
    """Whether no character spans the cut. Covers the common cases of Unicode annex 29, not all of them."""
    import unicodedata  # a megabyte of tables, needed only for a hard cut in long non-ASCII text

    before, after = text[cut - 1], text[cut]
    if before == "\u200d" or (before == "\r" and after == "\n"):
        return False
    if after == "\u200d" or unicodedata.category(after) in ("Mn", "Me", "Mc"):
        return False
    if "\U0001f3fb" <= after <= "\U0001f3ff" or "\U000e0020" <= after <= "\U000e007f":  # skin tones, tag letters
        return False
    if _is_flag_letter(after):
        run = 0
        while cut - run > start and _is_flag_letter(text[cut - run - 1]):
            run += 1
        return run % 2 == 0
    return not ("\u1160" <= after <= "\u11ff")  # Hangul vowels and finals, which join the preceding letter


def _is_flag_letter(char: str) -> bool:
    return "\U0001f1e6" <= char <= "\U0001f1ff"


def _find_open_fence(text: str, start: int, end: int, fence: _Fence | None) -> _Fence | None:
    """Return the fence that is open at `end`, by CommonMark's rules for fenced code."""
    if fence is not None:
        fence = _Fence(fence.marks, fence.line, start)
    elif "```" not in text[start:end] and "~~~" not in text[start:end]:
        return None
    position = start
    # a chunk may begin in the middle of a line, where fence markers do not count
    whole = start == 0 or text[start - 1] == "\n"
    for line in text[start:end].splitlines(keepends=True):
        if whole:
            fence = _update_fence(line, position, fence)
        position += len(line)
        whole = line.endswith("\n")
    return fence


def _update_fence(line: str, position: int, fence: _Fence | None) -> _Fence | None:
    body = line.lstrip(" ")
    mark = body[:1]
    if len(line) - len(body) > 3 or mark not in ("`", "~"):
        return fence
    count = len(body) - len(body.lstrip(mark))
    info = body[count:].strip()
    if count < 3:
        return fence
    if fence is not None:
        closes = mark == fence.marks[0] and count >= len(fence.marks) and not info
        return None if closes else fence
    if mark == "`" and "`" in info:
        return None
    language = info.split()[0][:20] if info else ""
    return _Fence(mark * count, f"{mark * count}{language}\n", position)
