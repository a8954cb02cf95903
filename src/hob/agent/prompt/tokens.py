"""Estimating tokens of texts and pictures: cheap, deterministic, and rather too high than too low.

Four ASCII characters count as one token (the providers' rule of thumb for English), two UTF-8 bytes of anything else as
one: 1.5 for a Chinese character, 1 for a Cyrillic letter or an umlaut, 2 for an emoji. Real tokenizers need fewer of
the latter; a prompt that is a little short is better than one that is refused.
"""

from collections.abc import Iterable, Sequence

from hob.core.models import AssistantMessage, ModelMessage, ToolMessage, UserMessage
from hob.core.tools import ToolCall

# Shortening a text while keeping its beginning and usually its end.

HEAD, TAIL = 0.7, 0.2


def shorten(text: str, limit: int) -> str:
    """Shorten to `limit` characters: the first 70 %, the last 20 %, and a mark that says how much is missing."""
    if len(text) <= limit:
        return text
    head, tail = int(limit * HEAD), int(limit * TAIL)
    mark = f"\n[… {len(text) - head - tail} characters left out …]\n"
    spare = limit - head - tail
    if len(mark) > spare:
        head -= len(mark) - spare
        if head < 0:
            return text[: max(0, limit)]
    return text[:head] + mark + text[len(text) - tail :]


def keep_beginning(text: str, limit: int) -> str:
    """Shorten to `limit` characters: the first lines, and a mark that says how long the text is."""
    if len(text) <= limit:
        return text
    mark = f"\n[… {len(text)} characters in all]"
    if limit <= len(mark):
        return text[: max(0, limit)]
    kept = text[: limit - len(mark)]
    return (kept.rpartition("\n")[0].rstrip() or kept) + mark


def fair_cap(lengths: list[int], total: int) -> int:
    """Return the cap per text at which all fit into `total`: short texts stay whole, long ones become equal."""
    left, count = total, len(lengths)
    for length in sorted(lengths):
        if length * count > left:
            return left // count
        left -= length
        count -= 1
    return max(lengths, default=0)


PER_MESSAGE = 4  # role and separators
PER_CALL = 12  # id, name and the structure around them
PER_IMAGE = 1_000


def estimate_tokens(text: str) -> int:
    """Estimate the tokens of a text."""
    if text.isascii():
        return (len(text) + 3) >> 2
    narrow = len(text.encode("ascii", "ignore"))
    wide = len(text.encode("utf-8", "surrogatepass")) - narrow
    return (narrow + 2 * wide + 3) >> 2


def count_bytes(text: str) -> int:
    """Return the text's length in UTF-8."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def estimate_calls(calls: Sequence[ToolCall]) -> int:
    """Estimate the tokens of a message's calls."""
    return sum(PER_CALL + estimate_tokens(call.name) + estimate_tokens(call.arguments) for call in calls)


def estimate_messages(messages: Iterable[ModelMessage]) -> int:
    """Estimate the tokens of messages as they are sent."""
    total = 0
    for message in messages:
        total += PER_MESSAGE + estimate_tokens(message.text)
        match message:
            case UserMessage():
                total += PER_IMAGE * len(message.images)
            case AssistantMessage():
                total += estimate_calls(message.calls)
                if message.continuation is not None:
                    total += estimate_tokens(message.continuation.data)
            case ToolMessage():
                total += PER_CALL
    return total
