"""Encodings: bytes as text and back, so that what was not changed comes back byte for byte."""

import codecs
from difflib import SequenceMatcher

from hob.core.errors import ToolFailed
from hob.core.values import dataclass

_BOMS = (  # the longer ones first: UTF-16's is the beginning of UTF-32's
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_SAMPLE = 65_536
_CONTROLS = bytes(set(range(32)) - set(b"\t\n\r\f\x1b")) + b"\x7f"
_BARELY = 0.02  # a text in an unknown encoding has no more control characters than this


@dataclass(frozen=True, slots=True)
class DecodedText:
    """A text as it was stored: what to write it back with. `text` has the file's own line ends and no mark."""

    text: str
    encoding: str = "utf-8"
    mark: bytes = b""
    errors: str = "strict"

    @property
    def newline(self) -> str:
        """The line end most lines have; `\\n` where there is none."""
        pairs = self.text.count("\r\n")
        lines = self.text.count("\n") - pairs
        alone = self.text.count("\r") - pairs
        if pairs > lines:
            return "\r\n"
        return "\r" if alone and not lines and not pairs else "\n"

    @property
    def plain(self) -> str:
        """With `\\n` at every line's end, as models write."""
        text = self.text.replace("\r\n", "\n")
        return text.replace("\r", "\n") if self.newline == "\r" else text

    def words(self) -> str:
        """What is unusual about how it is stored, or nothing."""
        ends = {"\r\n": "CRLF line ends", "\r": "CR line ends"}.get(self.newline, "")
        bytes_ = self.encoding if self.encoding != "utf-8" else ""
        marked = "with a byte order mark" if self.mark else ""
        broken = "bytes that are no UTF-8 shown as �" if self.errors != "strict" else ""
        return ", ".join(part for part in (bytes_, marked, ends, broken) if part)

    def with_newlines(self, text: str) -> str:
        """This text, with plain line ends, as the file would have it. Lines of the file keep the ends they have."""
        newline = self.newline
        if newline == "\r":
            return text.replace("\n", "\r")
        pairs = self.text.count("\r\n")
        if pairs in (0, self.text.count("\n")):
            return text.replace("\n", newline)
        theirs, mine = lines_of(self.text), lines_of(text)
        made: list[str] = []
        plain = [line.replace("\r\n", "\n") for line in theirs]
        for kind, i1, i2, j1, j2 in SequenceMatcher(None, plain, mine, autojunk=False).get_opcodes():
            made += theirs[i1:i2] if kind == "equal" else [line.replace("\n", newline) for line in mine[j1:j2]]
        return "".join(made)

    @property
    def shown(self) -> str:
        """`plain`, with a mark for what is no character."""
        if self.errors == "strict":
            return self.plain
        return self.plain.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def decode(data: bytes) -> DecodedText | None:
    """The text that these bytes are, from which `encode` makes the same bytes again; None if they are no text."""
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            return _decoded(data[len(mark) :], encoding, mark)
    sample = data[:_SAMPLE]
    if b"\0" in sample:
        return _without_mark(data)
    if (text := _decoded(data, "utf-8")) is not None:
        return text
    if len(sample.translate(None, _CONTROLS)) < len(sample) * (1 - _BARELY):
        return None
    loose = data.decode("utf-8", "surrogateescape")
    broken = sum("\udc80" <= char <= "\udcff" for char in loose)
    if broken < sum(char > "\x7f" for char in loose) - broken:
        return DecodedText(loose, errors="surrogateescape")
    return _decoded(data, "cp1252") or _decoded(data, "latin-1")


def encode(text: str, like: DecodedText) -> tuple[bytes, str]:
    """The bytes in the way the file had, and a remark where that was not possible. Raises ToolFailed."""
    try:
        return like.mark + text.encode(like.encoding, like.errors), ""
    except UnicodeEncodeError:
        pass
    try:
        return text.encode(), f"it is UTF-8 now: {like.encoding} has not all these characters"
    except UnicodeEncodeError as error:
        raise ToolFailed(f"the text has half a character ({text[error.start]!r}) at {error.start}.") from error


def lines_of(text: str) -> list[str]:
    """The lines with their ends. Only `\\n` ends one; what else Python takes for an end may stand within lines."""
    lines = text.split("\n")
    last = lines.pop()
    return [line + "\n" for line in lines] + ([last] if last else [])


def _decoded(data: bytes, encoding: str, mark: bytes = b"") -> DecodedText | None:
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        return None
    # A codec that reads more than it writes would change bytes no one has touched.
    return DecodedText(text, encoding, mark) if text.encode(encoding) == data else None


def _without_mark(data: bytes) -> DecodedText | None:
    """UTF-16 without its mark: in western text every other byte is zero."""
    sample = data[:_SAMPLE]
    half = len(sample) // 2
    if len(data) % 2 or half == 0:
        return None
    for encoding, zeros in (("utf-16-le", sample[1::2].count(0)), ("utf-16-be", sample[0::2].count(0))):
        if zeros > half * 0.4 and sample.count(0) - zeros < half * _BARELY:
            found = _decoded(data, encoding)
            if found is not None and not any(char < " " and char not in "\t\n\r\f\x1b" for char in found.text):
                return found
    return None
