"""The context block in the message that opens a turn: time, session and other current facts. It is never stored."""

from collections.abc import Sequence
from datetime import UTC, datetime, tzinfo

from hob.agent.prompt.tokens import shorten
from hob.core.memory import Memory
from hob.core.messages import UNKNOWN_TIME, Inbound

_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_LATE = 600.0  # seconds after which the time of sending is mentioned
_WAITING = 10  # pieces of parked work that are shown
_NAMED = 3  # untrusted memories that are named


def clock_line(now: datetime, timezone: tzinfo | None) -> str:
    """Return date, time and zone, e.g. `Now: Saturday, 2026-11-21 08:14 (Europe/Berlin, UTC+01:00)`."""
    local = now.astimezone(timezone)
    minute, offset, name = local.strftime("%Y-%m-%d %H:%M|%z|%Z").split("|", 2)
    name = str(timezone) if timezone is not None else name
    place = f"{name}, UTC{offset[:3]}:{offset[3:5]}" if name != "UTC" else "UTC"
    return f"Now: {_DAYS[local.weekday()]}, {minute} ({place})"


def sent_line(inbounds: Sequence[Inbound], now: datetime, timezone: tzinfo | None) -> str:
    """Return a line with the time of sending if that was long ago, otherwise ""."""
    sent = min((inbound.sent_at for inbound in inbounds if inbound.sent_at != UNKNOWN_TIME), default=now)
    if (now - sent).total_seconds() < _LATE:
        return ""
    return f"The message was sent at {sent.astimezone(timezone):%Y-%m-%d %H:%M} and is answered only now."


def memory_lines(
    memories: Sequence[Memory], limit: int, timezone: tzinfo | None = None
) -> tuple[list[str], list[Memory]]:
    """Return lines for the memories, best first, within `limit` characters, and the memories they contain.

    Trusted memories are quoted; untrusted ones ranked above the first trusted one are only named.
    """
    lines: list[str] = []
    shown: list[Memory] = []
    left, named = limit, 0
    first = next((place for place, memory in enumerate(memories) if memory.label.trusted), len(memories))
    for place, memory in enumerate(memories):
        if memory.label.trusted:
            line = f"- {_one_line(memory.text, 1_000)}{_in_brackets(_day(memory.at, timezone), memory.source)}"
        elif place < first and named < _NAMED:
            named += 1
            where = _join_parts(memory.label.origin, memory.source, _day(memory.at, timezone), memory.id)
            line = f"- (untrusted, not shown: {where})"
        else:
            continue
        if len(line) + 1 > left:
            break
        left -= len(line) + 1
        lines.append(line)
        shown.append(memory)
    return lines, shown


def _day(at: float, timezone: tzinfo | None) -> str:
    return f"{datetime.fromtimestamp(at, timezone or UTC):%Y-%m-%d}" if at else ""


def _join_parts(*parts: str) -> str:
    return ", ".join(_one_line(part, 80) for part in parts if part)


def _in_brackets(*parts: str) -> str:
    told = _join_parts(*parts)
    return f" [{told}]" if told else ""


def block(sections: Sequence[str]) -> str:
    """Return the block around these sections, or ""."""
    body = "\n".join(section for section in sections if section)
    return f"<context>\n{body}\n</context>" if body else ""


def titled_list(title: str, lines: Sequence[str]) -> str:
    """Return a titled list, or ""."""
    return "\n".join([f"{title}:", *lines]) if lines else ""


def note_line(text: str) -> str:
    """Return the lines of a trusted working note."""
    return f"Working note:\n{text.replace('<', '(')}"


def hidden_note_line(length: int) -> str:
    """Return the line that replaces an expired untrusted working note."""
    return f"Working note: untrusted, {length:,} characters, not shown; recall with untrusted=true shows it."


def waiting_lines(parked: Sequence[str]) -> list[str]:
    """Return one line for each piece of parked work, the newest if there are many."""
    return [f"- {_one_line(line, 200)}" for line in parked[-_WAITING:]]


def _one_line(text: str, limit: int) -> str:
    return shorten(" ".join(text.replace("<", "(").split()), limit).replace("\n", " ")
