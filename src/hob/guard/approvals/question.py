"""The content of an approval question as values, stored with it and rendered in the reader's language."""

import re
from collections.abc import Mapping
from typing import Any

from hob.core.translation.language import Translatable, pack_text, unpack_text
from hob.core.values import dataclass

_SUBJECTS = ("command", "path", "patch", "to", "url", "key", "name", "text")
_IN_PATCH = re.compile(r"^(?:\*\*\* (?:Add|Update|Delete) File: |\+\+\+ )(.+)", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A call that needs approval. `commands` are parsed from shell text, `diff` is what a write would change.

    `unheld` are folders with too many files to detect changes before the answer.
    """

    tool: str
    arguments: Mapping[str, Any] | str
    reason: str
    requester: str = ""
    directory: str = ""
    commands: tuple[str, ...] = ()
    diff: str = ""
    unheld: tuple[str, ...] = ()

    @property
    def subject(self) -> str:
        """The subject in one line: the command, the path, the recipient."""
        if isinstance(self.arguments, str):
            return _first_line(self.arguments)
        found = {name: _about(name, value) for name, value in self.arguments.items()}
        return next((found[name] for name in _SUBJECTS if found.get(name)), next(filter(None, found.values()), ""))

    def is_command_an_argument(self) -> bool:
        """Return whether the only command is literally one of the arguments."""
        values = () if isinstance(self.arguments, str) else self.arguments.values()
        return len(self.commands) == 1 and any(value == self.commands[0] for value in values)

    def values(self) -> dict[str, Any]:
        """Return the question as JSON values."""
        return {
            "tool": self.tool,
            "arguments": self.arguments,
            "reason": pack_text(self.reason) if isinstance(self.reason, Translatable) else self.reason,
            "requester": self.requester,
            "directory": self.directory,
            "commands": list(self.commands),
            "diff": self.diff,
            "unheld": list(self.unheld),
        }

    @classmethod
    def load(cls, values: Mapping[str, Any]) -> "Question":
        """Restore a question from `values`."""
        reason = values["reason"]
        return cls(
            tool=values["tool"],
            arguments=values["arguments"],
            reason=unpack_text(reason) if isinstance(reason, dict) else reason,
            requester=values["requester"],
            directory=values["directory"],
            commands=tuple(values["commands"]),
            diff=values["diff"],
            unheld=tuple(values["unheld"]),
        )


def _about(name: str, value: object) -> str:
    text = value if isinstance(value, str) else "" if value is None else str(value)
    if name == "patch":
        found = _IN_PATCH.search(text)
        return found[1] if found else ""
    return _first_line(text)


def _first_line(text: str) -> str:
    return next((line for line in text.split("\n") if line.strip()), "")
