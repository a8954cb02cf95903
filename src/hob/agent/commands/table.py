"""The slash commands there are, as data, and how one is read from a message."""

from dataclasses import dataclass
from enum import StrEnum

from hob.core.scopes import TokenScope


class Moment(StrEnum):
    """When a command acts."""

    ARRIVAL = "arrival"  # at once, beside a running turn
    LANE = "lane"  # in order with the messages


@dataclass(frozen=True, slots=True)
class SlashCommand:
    """One row of the table. `english` and `german` stand in `/help`; `owner` keeps it from everybody else.

    `scope` is what a token of the owner's must be good for, as it must for the route that does the same.
    """

    name: str
    moment: Moment
    usage: str
    english: str
    german: str
    owner: bool = False
    scope: TokenScope = TokenScope.CHAT


COMMANDS: tuple[SlashCommand, ...] = (
    SlashCommand("help", Moment.ARRIVAL, "/help", "this list", "diese Liste"),
    SlashCommand(
        "status", Moment.ARRIVAL, "/status", "how Hob is", "wie es Hob geht", owner=True, scope=TokenScope.READ
    ),
    SlashCommand("whoami", Moment.ARRIVAL, "/whoami", "who you are to Hob", "wer du für Hob bist"),
    SlashCommand("stop", Moment.ARRIVAL, "/stop", "stop the running turn", "die laufende Arbeit anhalten"),
    SlashCommand(
        "pause",
        Moment.ARRIVAL,
        "/pause",
        "keep messages, do nothing",
        "Nachrichten behalten, nichts tun",
        owner=True,
        scope=TokenScope.ADMIN,
    ),
    SlashCommand("resume", Moment.ARRIVAL, "/resume", "go on", "weitermachen", owner=True, scope=TokenScope.ADMIN),
    SlashCommand(
        "cancel",
        Moment.ARRIVAL,
        "/cancel ID",
        "cancel a task",
        "eine Aufgabe abbrechen",
        owner=True,
        scope=TokenScope.ADMIN,
    ),
    SlashCommand("tasks", Moment.ARRIVAL, "/tasks", "open tasks", "offene Aufgaben", owner=True, scope=TokenScope.READ),
    SlashCommand(
        "usage", Moment.ARRIVAL, "/usage", "what was spent", "was verbraucht wurde", owner=True, scope=TokenScope.READ
    ),
    SlashCommand(
        "context",
        Moment.ARRIVAL,
        "/context",
        "what the next request holds",
        "was die nächste Anfrage enthält",
        owner=True,
        scope=TokenScope.READ,
    ),
    SlashCommand(
        "session",
        Moment.ARRIVAL,
        "/session [list|switch|archive|title]",
        "named sessions",
        "benannte Sitzungen",
        owner=True,
    ),
    SlashCommand(
        "queue",
        Moment.ARRIVAL,
        "/queue [MODE]",
        "what a message during work does",
        "was eine Nachricht während der Arbeit tut",
        owner=True,
    ),
    SlashCommand("new", Moment.LANE, "/new", "begin afresh", "neu anfangen"),
    SlashCommand("reset", Moment.LANE, "/reset", "the same as /new", "dasselbe wie /new"),
    SlashCommand("compact", Moment.LANE, "/compact [undo]", "summarise the history", "den Verlauf zusammenfassen"),
    SlashCommand(
        "undo",
        Moment.LANE,
        "/undo [files [preview]]",
        "take the last turn back, or its changes of files",
        "die letzte Runde oder ihre Dateien zurücknehmen",
    ),
    SlashCommand(
        "model",
        Moment.LANE,
        "/model [NAME|default]",
        "show or choose the model",
        "das Modell zeigen oder wählen",
        owner=True,
    ),
    SlashCommand(
        "think",
        Moment.LANE,
        "/think [LEVEL|default]",
        "show or choose how long the model thinks",
        "zeigen oder wählen, wie lange das Modell nachdenkt",
        owner=True,
    ),
    SlashCommand(
        "permission",
        Moment.LANE,
        "/permission [MODE|default]",
        "show or choose what this session permits",
        "zeigen oder wählen, was diese Sitzung erlaubt",
        owner=True,
    ),
    SlashCommand(
        "autonomy",
        Moment.LANE,
        "/autonomy [LEVEL|default]",
        "show or choose how much it does without asking",
        "zeigen oder wählen, wie viel sie ungefragt tut",
        owner=True,
    ),
)
ANSWERS = frozenset({"approve", "allow", "deny"})
"""What looks like a command and answers a question for leave."""
BY_NAME = {command.name: command for command in COMMANDS}
_OF_VERBS = {
    ("session", ""): TokenScope.READ,
    ("session", "list"): TokenScope.READ,
    ("session", "archive"): TokenScope.ADMIN,
    ("session", "title"): TokenScope.ADMIN,
    ("undo", "files"): TokenScope.ADMIN,
}
"""Where it depends on the first word behind the command."""


def scope_of(command: SlashCommand, rest: str) -> TokenScope:
    """What a token must be good for to use the command so; loosening what a session permits wants more."""
    verb = rest.split(maxsplit=1)[0].lower() if rest else ""
    return _OF_VERBS.get((command.name, verb), command.scope)


def parse(text: str) -> tuple[str, str] | None:
    """Name and rest of a slash command, or None if the text is none.

    A path such as `/etc/hosts` is a message: a name holds letters only. A leading space makes any text a message.
    """
    if not text.startswith("/"):
        return None
    head, _, rest = text.partition(" ")
    head, newline, more = head.partition("\n")
    name = head[1:].lower()
    if not (name.isascii() and name.isalpha()):
        return None
    return name, (more + newline + rest if newline else rest).strip()
