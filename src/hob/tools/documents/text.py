"""Decoding and encoding of text files, byte for byte where nothing was changed."""

import codecs
from difflib import SequenceMatcher

from hob.core.errors import ToolFailed
from hob.core.values import dataclass

_BOMS = (  # longer marks first, because UTF-32's begins with UTF-16's
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_SAMPLE = 65_536
_CONTROLS = bytes(set(range(32)) - set(b"\t\n\r\f\x1b")) + b"\x7f"
_BARELY = 0.02  # maximum share of control characters in text of unknown encoding


@dataclass(frozen=True, slots=True)
class DecodedText:
    """A decoded text and its encoding. `text` keeps the file's line ends, without the byte order mark."""

    text: str
    encoding: str = "utf-8"
    mark: bytes = b""
    errors: str = "strict"

    @property
    def newline(self) -> str:
        """The most frequent line end; `\\n` if there is none."""
        pairs = self.text.count("\r\n")
        lines = self.text.count("\n") - pairs
        alone = self.text.count("\r") - pairs
        if pairs > lines:
            return "\r\n"
        return "\r" if alone and not lines and not pairs else "\n"

    @property
    def plain(self) -> str:
        """The text with `\\n` line ends, as models write it."""
        text = self.text.replace("\r\n", "\n")
        return text.replace("\r", "\n") if self.newline == "\r" else text

    def words(self) -> str:
        """Unusual properties of the encoding in words; empty if there are none."""
        ends = {"\r\n": "CRLF line ends", "\r": "CR line ends"}.get(self.newline, "")
        bytes_ = self.encoding if self.encoding != "utf-8" else ""
        marked = "with a byte order mark" if self.mark else ""
        broken = "bytes that are no UTF-8 shown as �" if self.errors != "strict" else ""
        return ", ".join(part for part in (bytes_, marked, ends, broken) if part)

    def with_newlines(self, text: str) -> str:
        """Convert plain line ends to the file's; unchanged lines keep theirs."""
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
        """The plain text with undecodable bytes marked."""
        if self.errors == "strict":
            return self.plain
        return self.plain.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def decode(data: bytes) -> DecodedText | None:
    """Decode bytes so that `encode` restores them; None if they are not text."""
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
    """Encode in the original file's encoding, with a remark if that was not possible. Raises ToolFailed."""
    try:
        return like.mark + text.encode(like.encoding, like.errors), ""
    except UnicodeEncodeError:
        pass
    try:
        return text.encode(), f"it is UTF-8 now: {like.encoding} has not all these characters"
    except UnicodeEncodeError as error:
        raise ToolFailed(f"the text has half a character ({text[error.start]!r}) at {error.start}.") from error


def lines_of(text: str) -> list[str]:
    """Split into lines with their ends. Only `\\n` ends a line, unlike in `str.splitlines`."""
    lines = text.split("\n")
    last = lines.pop()
    return [line + "\n" for line in lines] + ([last] if last else [])


def _decoded(data: bytes, encoding: str, mark: bytes = b"") -> DecodedText | None:
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        return None
    # a codec that decodes more than it encodes would change untouched bytes
    return DecodedText(text, encoding, mark) if text.encode(encoding) == data else None


def _without_mark(data: bytes) -> DecodedText | None:
    """Detect UTF-16 without a byte order mark: in western text every other byte is zero."""
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
