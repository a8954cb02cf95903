"""The format of log lines: text or JSON, and one reader for both."""

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
    """One log event. `at` is local ISO 8601 with its UTC offset; `trace` is empty outside of messages."""

    at: str
    level: str
    logger: str
    trace: str
    text: str

    @property
    def seconds(self) -> float:
        """The time in Unix seconds; 0 if it cannot be parsed."""
        try:
            return datetime.fromisoformat(self.at).timestamp()
        except ValueError:
            return 0.0


def format_text(line: LogLine) -> str:
    """Format a line for people, with line ends and terminal controls escaped."""
    return f"{line.at} {line.level} {line.logger} {line.trace or NO_TRACE} {line.text.translate(_SHOWN)}"


def format_json(line: LogLine) -> str:
    """Format a line as JSON."""
    return json.dumps(line_view(line), ensure_ascii=False).translate(_ENDS)


def line_view(line: LogLine) -> LogLineAnswer:
    """Return a line as the API's value."""
    return {
        "time": line.at,
        "level": line.level.lower(),
        "logger": line.logger,
        "trace": line.trace or None,
        "text": line.text,
    }


def parse_line(line: str) -> LogLine | None:
    """Parse a line of either form; return None for anything else, e.g. a line cut off by a full disk."""
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
