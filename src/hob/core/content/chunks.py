"""Cutting a long text into messages of a channel's size.

Where to cut, best first: after a paragraph, a line, a sentence, a word; else between two characters, never inside one
that is made of several code points (accents, emoji with a joiner, flags). Chunks of a text without code fences joined
are the text. A fence that is open at a cut is closed there and opened again in the next chunk.
"""

from hob.core.values import dataclass

_LOOK_BACK = 32  # longest character in code points; text that stacks more accents than that may be cut inside
_TITLE = 60  # characters


def split_text(text: str, limit: int) -> tuple[str, ...]:
    """Chunks of at most `limit` characters (code points), in order; no chunk for no text.

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
        chunk, start, fence = _take(text, start, limit, fence)
        chunks.append(chunk)
    return tuple(chunks)


def first_words(text: str) -> str:
    """How something is called by what it says: its beginning, in one line."""
    line = " ".join(text.split())
    return line if len(line) <= _TITLE else line[: _TITLE - 1] + "…"


@dataclass(frozen=True, slots=True)
class _Fence:
    """A code fence that is open: its marks, the line that opens it again, and where it began."""

    marks: str
    line: str
    at: int


def _take(text: str, start: int, limit: int, fence: _Fence | None) -> tuple[str, int, _Fence | None]:
    """The next chunk, where the one after it starts, and the fence that is open there."""
    opening = fence.line if fence else ""
    if len(text) - start + len(opening) <= limit:
        return opening + text[start:], len(text), None
    if len(opening) * 4 > limit:
        return _take_plain(text, start, limit)
    reserve = len(fence.marks) + 1 if fence else 0
    for _ in range(4):
        room = limit - len(opening) - reserve
        if room < 1 or reserve * 4 > limit:
            break
        cut = _best_cut(text, start, start + room)
        still = _scan(text, start, cut, fence)
        if still is not None and still.at - start > room // 2:
            cut, still = still.at, None  # rather begin the code in the next chunk than cut it
        if still is None:
            return opening + text[start:cut], cut, None
        body = opening + text[start:cut]
        closing = still.marks if body.endswith("\n") else "\n" + still.marks
        if len(body) + len(closing) <= limit:
            return body + closing, cut, still
        reserve = len(still.marks) + 1
    return _take_plain(text, start, limit)


def _take_plain(text: str, start: int, limit: int) -> tuple[str, int, None]:
    """A chunk without regard to fences, where their marks would leave no room for text."""
    cut = _best_cut(text, start, min(len(text), start + limit))
    return text[start:cut], cut, None


def _best_cut(text: str, start: int, end: int) -> int:
    """Where to end a chunk that may reach to `end`; always after `start`."""
    if end >= len(text):
        return len(text)
    minimum = start + (end - start) // 3  # a nicer place further back would leave too short a chunk
    for mark in ("\n\n", "\n", ". ", "! ", "? ", "。", " "):
        found = text.rfind(mark, minimum, end)
        if found > start:
            return found + len(mark)
    return _between_characters(text, start, end)


def _between_characters(text: str, start: int, end: int) -> int:
    if text[end - 1].isascii() and text[end].isascii() and text[end - 1 : end + 1] != "\r\n":
        return end
    for cut in range(end, max(start, end - _LOOK_BACK), -1):
        if _is_boundary(text, start, cut):
            return cut
    return end


def _is_boundary(text: str, start: int, cut: int) -> bool:
    """Whether no character reaches over the cut: the common cases of Unicode's annex 29, not all of it."""
    import unicodedata  # a megabyte of tables that only a hard cut in a long non-ASCII text needs

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
    return not ("\u1160" <= after <= "\u11ff")  # Hangul vowels and finals that join the letter before


def _is_flag_letter(char: str) -> bool:
    return "\U0001f1e6" <= char <= "\U0001f1ff"


def _scan(text: str, start: int, end: int, fence: _Fence | None) -> _Fence | None:
    """The fence that is open at `end`, by CommonMark's rules for fenced code."""
    if fence is not None:
        fence = _Fence(fence.marks, fence.line, start)
    elif "```" not in text[start:end] and "~~~" not in text[start:end]:
        return None
    position = start
    whole = start == 0 or text[start - 1] == "\n"  # a chunk may begin in the middle of a line, which marks nothing
    for line in text[start:end].splitlines(keepends=True):
        if whole:
            fence = _after_line(line, position, fence)
        position += len(line)
        whole = line.endswith("\n")
    return fence


def _after_line(line: str, position: int, fence: _Fence | None) -> _Fence | None:
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
