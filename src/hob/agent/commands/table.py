"""The slash commands as data, and the parser that recognises them."""

from enum import StrEnum

from hob.core.trust.scopes import TokenScope
from hob.core.values import dataclass


class CommandTiming(StrEnum):
    """Time at which a command runs."""

    ARRIVAL = "arrival"  # at once, even while a turn runs
    LANE = "lane"  # in order with the messages


@dataclass(frozen=True, slots=True)
class SlashCommand:
    """One row of the table. `usage` and `text` are shown by `/help`; `owner` restricts the command to the owner.

    `scope` is the scope an owner's token needs; the equivalent API route requires it too.
    """

    name: str
    timing: CommandTiming
    usage: str
    text: str
    owner: bool = False
    scope: TokenScope = TokenScope.CHAT


COMMANDS: tuple[SlashCommand, ...] = (
    SlashCommand("help", CommandTiming.ARRIVAL, "/help", "list the commands"),
    SlashCommand(
        "status", CommandTiming.ARRIVAL, "/status", "show daemon and queue status", owner=True, scope=TokenScope.READ
    ),
    SlashCommand("whoami", CommandTiming.ARRIVAL, "/whoami", "who you are to Hob"),
    SlashCommand("stop", CommandTiming.ARRIVAL, "/stop [all]", "stop what this conversation does, or everything"),
    SlashCommand(
        "pause",
        CommandTiming.ARRIVAL,
        "/pause",
        "hold new messages until /resume",
        owner=True,
        scope=TokenScope.ADMIN,
    ),
    SlashCommand(
        "resume", CommandTiming.ARRIVAL, "/resume", "continue after /pause", owner=True, scope=TokenScope.ADMIN
    ),
    SlashCommand(
        "cancel",
        CommandTiming.ARRIVAL,
        "/cancel ID",
        "cancel a task",
        owner=True,
        scope=TokenScope.ADMIN,
    ),
    SlashCommand("tasks", CommandTiming.ARRIVAL, "/tasks", "list open tasks", owner=True, scope=TokenScope.READ),
    SlashCommand("usage", CommandTiming.ARRIVAL, "/usage", "show spending", owner=True, scope=TokenScope.READ),
    SlashCommand(
        "context",
        CommandTiming.ARRIVAL,
        "/context",
        "show what the next request contains",
        owner=True,
        scope=TokenScope.READ,
    ),
    SlashCommand(
        "session",
        CommandTiming.ARRIVAL,
        "/session [list|switch|archive|title]",
        "named conversations",
        owner=True,
    ),
    SlashCommand(
        "queue",
        CommandTiming.ARRIVAL,
        "/queue [MODE]",
        "what new messages do while Hob works",
        owner=True,
    ),
    SlashCommand("new", CommandTiming.LANE, "/new", "start a new conversation"),
    SlashCommand("reset", CommandTiming.LANE, "/reset", "the same as /new"),
    SlashCommand("compact", CommandTiming.LANE, "/compact [undo]", "summarise the history"),
    SlashCommand(
        "undo",
        CommandTiming.LANE,
        "/undo [files [preview]]",
        "take back the last turn, or its file changes",
    ),
    SlashCommand(
        "model",
        CommandTiming.LANE,
        "/model [NAME|default]",
        "show or choose the model",
        owner=True,
    ),
    SlashCommand(
        "think",
        CommandTiming.LANE,
        "/think [LEVEL|default]",
        "show or choose how long the model thinks",
        owner=True,
    ),
    SlashCommand(
        "permission",
        CommandTiming.LANE,
        "/permission [MODE|default]",
        "show or choose what this conversation allows",
        owner=True,
    ),
    SlashCommand(
        "autonomy",
        CommandTiming.LANE,
        "/autonomy [LEVEL|default]",
        "show or choose how much it does without asking",
        owner=True,
    ),
)
ANSWERS = frozenset({"approve", "allow", "deny"})
"""Words that look like a command but answer a question for approval."""
BY_NAME = {command.name: command for command in COMMANDS}
_OF_VERBS = {
    ("stop", "all"): TokenScope.ADMIN,
    ("session", ""): TokenScope.READ,
    ("session", "list"): TokenScope.READ,
    ("session", "archive"): TokenScope.ADMIN,
    ("session", "title"): TokenScope.ADMIN,
    ("undo", "files"): TokenScope.ADMIN,
}
"""Scopes that depend on the first word after the command."""


def scope_of(command: SlashCommand, rest: str) -> TokenScope:
    """Return the scope a token needs for this use of the command; loosening permissions needs more."""
    verb = rest.split(maxsplit=1)[0].lower() if rest else ""
    return _OF_VERBS.get((command.name, verb), command.scope)


def parse(text: str) -> tuple[str, str] | None:
    """Return the name and arguments of a slash command, or None if the text is not one.

    A path such as `/etc/hosts` is a message: a name consists of letters. A leading space makes any text a message.
    """
    if not text.startswith("/"):
        return None
    head, _, rest = text.partition(" ")
    head, newline, more = head.partition("\n")
    name = head[1:].lower()
    if not (name.isascii() and name.isalpha()):
        return None
    return name, (more + newline + rest if newline else rest).strip()
