"""The format of log lines: text or JSON, both read back by the same reader."""

import json
import re
from datetime import datetime
from typing import NamedTuple

from hob.gateway.administration import LogLineAnswer

NO_TRACE = "-"
_TEXT = re.compile(r"(\d{4}-\S+) ([A-Z]+) (\S+) (\S+) (.*)")
_ENDS = {code: f"\\u{code:04x}" for code in (*range(0x7F, 0xA0), 0x2028, 0x2029)}
_SHOWN = {**_ENDS, **{code: f"\\x{code:02x}" for code in range(0x20)}, 0x09: "\t", 0x0A: "\\n", 0x0D: "\\r"}


class LogLine(NamedTuple):
    """One event. `at` is local ISO 8601 with its offset from UTC, `trace` empty where it belongs to no message."""

    at: str
    level: str
    logger: str
    trace: str
    text: str

    @property
    def seconds(self) -> float:
        """When it was, in Unix seconds; 0 where that cannot be read."""
        try:
            return datetime.fromisoformat(self.at).timestamp()
        except ValueError:
            return 0.0


def write_text(line: LogLine) -> str:
    """As people read it; whatever would end the line or steer a terminal is written as an escape."""
    return f"{line.at} {line.level} {line.logger} {line.trace or NO_TRACE} {line.text.translate(_SHOWN)}"


def write_json(line: LogLine) -> str:
    """As machines read it."""
    return json.dumps(view(line), ensure_ascii=False).translate(_ENDS)


def view(line: LogLine) -> LogLineAnswer:
    """The same as a value."""
    return {
        "time": line.at,
        "level": line.level.lower(),
        "logger": line.logger,
        "trace": line.trace or None,
        "text": line.text,
    }


def read_line(line: str) -> LogLine | None:
    """Either form read back; None for what is neither, e.g. the rest of a line that a full disk cut."""
    if line.startswith("{"):
        try:
            found = json.loads(line)
            return LogLine(found["time"], found["level"].upper(), found["logger"], found["trace"] or "", found["text"])
        except (ValueError, KeyError, TypeError, AttributeError):
            return None
    match = _TEXT.match(line)
    if match is None:
        return None
    at, level, logger, trace, text = match.groups()
    return LogLine(at, level, logger, "" if trace == NO_TRACE else trace, text.replace("\\n", "\n"))
