"""The table of commands. Each is loaded only when it runs."""

import errno
import io
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hob.app.module_loading import without_garbage_collection
from hob.app.plugins import MANIFESTS
from hob.cli.translating import _
from hob.config.environment import find_home, process_environment

ABOUT = "A personal assistant that loses nothing. Without a command: chat."
HEADINGS = {
    "chat": "Talk",
    "dashboard": "See what it does",
    "retry": "Troubleshooting",
    "models": "Set up",
    "approvals": "Trust",
    "doctor": "Keep it running",
    "memory": "Data",
}
"""The command above which each heading is printed."""
COMMANDS: tuple[tuple[str, str], ...] = (
    ("chat", "Chat in the terminal; the default command."),
    ("ask", "Ask one question; the answer goes to stdout."),
    ("onboard", "Set Hob up: find and test a model, make the folders."),
    ("serve", "Run the daemon."),
    ("stop", "Stop the daemon; waiting messages are kept."),
    ("resume", "Continue after `hob stop --all`."),
    ("dashboard", "Open the dashboard in a browser, signed in."),
    ("status", "Show daemon, queue and storage status."),
    ("sessions", "List, show, rename, pause and delete conversations."),
    ("usage", "Show what was spent, on what, and what is left."),
    ("tasks", "List open tasks, with --all past ones too."),
    ("timeline", "Show what happened, message by message."),
    ("logs", "Show Hob's log; --follow keeps going."),
    ("prompt", "Show what the model would be sent next, part by part."),
    ("retry", "Try again what failed or was quarantined."),
    ("undo", "Undo what a turn changed in files."),
    ("replay", "Ask another model what a turn was asked, and compare."),
    ("models", "List, choose and test models."),
    ("config", "Show, check and change settings."),
    ("secrets", "Keep API keys and passwords out of the settings file."),
    ("token", "Make and revoke tokens for the API."),
    ("webhooks", "List and test incoming webhooks."),
    ("mcp", "Add, list, test and accept MCP servers, which offer more tools."),
    ("tools", "List, explain and try tools."),
    ("auth", "List, add and remove logins of MCP servers."),
    ("plugins", "List plug-ins, and switch them on and off."),
    ("import", "Import files, conversations and settings of another assistant."),
    ("completion", "Print completions for a shell: bash, zsh or fish."),
    ("approvals", "Show and answer requests for approval."),
    ("accept", "Accept changed instructions (SOUL.md, USER.md ...) as yours."),
    ("people", "List, link and forget people who talk to Hob."),
    ("pairing", "Let new people write to Hob, or refuse them."),
    ("policy", "Explain what the policy allows, and by which rule."),
    ("security", "Show what could be safer about this Hob."),
    ("audit", "Show the audit log, and verify that it is complete."),
    ("erase", "Delete what a person said and what was said about them."),
    ("doctor", "Find problems, and say how to fix them."),
    ("service", "Run Hob as a service: starts with the machine and after failures."),
    ("upgrade", "Show how to upgrade this Hob, and what changed."),
    ("memory", "Search, add to and prune what Hob remembers."),
    ("backup", "Write a copy of everything said and remembered to one file."),
    ("restore", "Restore a backup; the current database is kept."),
    ("export", "Export conversations as JSON lines."),
    ("rebuild", "Rebuild tasks, spending and conversations from the timeline."),
)

_OWN_OPTIONS = frozenset({"--help", "-h", "--version", "-V"})
PLAIN = frozenset({"chat", "serve", "stop", "resume", "status", "usage", "tasks", "timeline", "logs", "prompt"})
"""Commands without arguments, which need no parser."""


def load_command(name: str) -> Any:
    """Return a command's function, or the `cyclopts.App` of a group."""
    with without_garbage_collection(stays=name == "serve"):
        return _talk(name) or _setup(name) or _trust(name)


def _talk(name: str) -> Any:  # noqa: C901 - a table
    found: Any = None
    match name:
        case "chat":
            from hob.cli.conversation.chat import chat as found
        case "ask":
            from hob.cli.conversation.ask import ask as found
        case "sessions":
            from hob.cli.conversation.sessions import app as found
        case "prompt":
            from hob.cli.conversation.prompt import prompt as found
        case "retry":
            from hob.cli.conversation.retry import retry as found
        case "undo":
            from hob.cli.conversation.undo import undo as found
        case "replay":
            from hob.cli.conversation.replay import replay as found
        case "serve":
            from hob.cli.daemon.serve import serve as found
        case "stop":
            from hob.cli.daemon.stop import stop as found
        case "resume":
            from hob.cli.daemon.stop import resume as found
        case "dashboard":
            from hob.cli.daemon.dashboard import dashboard as found
        case "status":
            from hob.cli.daemon.status import status as found
        case "usage":
            from hob.cli.activity.usage import usage as found
        case "tasks":
            from hob.cli.activity.tasks import tasks as found
        case "timeline":
            from hob.cli.activity.timeline import timeline as found
        case "logs":
            from hob.cli.activity.logs import logs as found
        case "doctor":
            from hob.cli.daemon.doctor import doctor as found
        case "service":
            from hob.cli.daemon.service import app as found
    return found


def _setup(name: str) -> Any:  # noqa: C901 - a table
    found: Any = None
    match name:
        case "onboard":
            from hob.cli.setup.onboard import onboard as found
        case "models":
            from hob.cli.setup.models import app as found
        case "config":
            from hob.cli.setup.config import app as found
        case "secrets":
            from hob.cli.setup.secrets import app as found
        case "token":
            from hob.cli.setup.token import app as found
        case "webhooks":
            from hob.cli.setup.webhooks import app as found
        case "mcp":
            from hob.cli.setup.mcp import app as found
        case "tools":
            from hob.cli.setup.tools import app as found
        case "auth":
            from hob.cli.setup.auth import app as found
        case "plugins":
            from hob.cli.setup.plugins import app as found
        case "import":
            from hob.cli.setup.imports import import_ as found
        case "completion":
            from hob.cli.setup.completion import completion as found
        case "upgrade":
            from hob.cli.setup.upgrade import upgrade as found
    return found


def _trust(name: str) -> Any:  # noqa: C901 - a table
    found: Any = None
    match name:
        case "approvals":
            from hob.cli.trust.approvals import app as found
        case "accept":
            from hob.cli.trust.accept import accept as found
        case "people":
            from hob.cli.trust.people import app as found
        case "pairing":
            from hob.cli.trust.pairing import app as found
        case "policy":
            from hob.cli.trust.policy import app as found
        case "security":
            from hob.cli.trust.security import app as found
        case "audit":
            from hob.cli.trust.audit import app as found
        case "erase":
            from hob.cli.data.erase import erase as found
        case "memory":
            from hob.cli.data.memory import app as found
        case "backup":
            from hob.cli.data.backup import backup as found
        case "restore":
            from hob.cli.data.backup import restore as found
        case "export":
            from hob.cli.data.export import export as found
        case "rebuild":
            from hob.cli.data.rebuild import rebuild as found
    return found


def overview() -> str:
    """Return the text of `hob --help`, made without loading commands."""
    lines: list[str] = []
    for name, text in COMMANDS:
        if name in HEADINGS:
            lines += ["", f"{_(HEADINGS[name])}:"]
        lines.append(f"  {name:10} {_(text)}")
    if theirs := commands_of_plugins():
        lines += ["", f"{_('From plug-ins')}:", *(f"  {name:10} {text}" for name, (_plugin, text) in theirs.items())]
    more, version = _("This text; `hob COMMAND --help` says more."), _("Show the version.")
    head = f"{_('Usage')}: hob {_('[COMMAND]')}\n\n{_(ABOUT)}"
    return "\n".join((head, *lines, f"\n{_('Options')}:", f"  --help     {more}", f"  --version  {version}"))


def commands_of_plugins() -> Mapping[str, tuple[str, str]]:
    """Return the commands of enabled plug-ins, each with its plug-in and its help."""
    home = find_home(process_environment())
    if not (home / MANIFESTS).exists():
        return {}
    from hob.app.plugins.manifest import read_manifests  # a third of the time of `hob --help`

    on = [each for each in read_manifests(home).values() if each.on]
    return {name: (each.name, text) for each in on for name, text in each.commands.items()}


def build(help_page: Any = None, wanted: str = "") -> Any:
    """Build the `cyclopts.App`; `hob` alone is a chat. With `wanted`, other commands are names only."""
    from cyclopts import App, Parameter  # a tenth of a second that the list of commands does not need

    from hob.cli.help_page import HelpPage

    app = App(
        name="hob",
        help=ABOUT,
        help_format="plaintext",
        help_formatter=help_page or HelpPage(),
        version_flags=["--version", "-V"],
        result_action="return_value",
        default_parameter=Parameter(negative_iterable=()),
    )
    for name, text in COMMANDS:
        command = load_command(name) if wanted in ("", name) else _not_loaded
        app.command(command, name=name, **({} if isinstance(command, App) else {"help": _help_of(command, text)}))
    return app


def _help_of(command: Callable[..., object], text: str) -> str:
    """Return a command's one-line help, and the rest of its docstring."""
    from inspect import cleandoc  # only help needs it

    added = cleandoc(command.__doc__ or "").partition("\nParameters\n")[0].split("\n\n")[1:]
    return "\n\n".join((text, *added)).rstrip()


def _perform(arguments: Sequence[str]) -> object:
    """Run a command; return its status. The commonest calls skip the command line library, at half the cost."""
    arguments = _as_options(arguments)
    if arguments in (["--help"], ["-h"]):
        return print(overview())
    if not arguments and (status := _lead_in()):
        return status
    if not arguments or (arguments[0].startswith("-") and arguments[0] not in _OWN_OPTIONS):
        arguments = ["chat", *arguments]
    name, *rest = arguments
    if (name in PLAIN and not rest) or (name == "ask" and len(rest) == 1 and not rest[0].startswith("-")):
        return load_command(name)(*rest)
    return _parsed(arguments)


def _as_options(arguments: Sequence[str]) -> list[str]:
    """Rewrite `hob help ask` as `hob ask --help`, and `hob version` as `hob --version`."""
    match list(arguments):
        case ["help", *rest]:
            return [*rest, "--help"]
        case ["version"]:
            return ["--version"]
        case rest:
            return rest


def _parsed(arguments: Sequence[str]) -> object:
    from cyclopts import CycloptsError

    from hob.cli.help_page import describe_usage_error

    app = build(wanted=arguments[0])
    if found := commands_of_plugins().get(arguments[0]):
        from hob.cli.setup.plugins import add_command

        add_command(app, found[0], arguments[0])
    try:
        return app(arguments, print_error=False, exit_on_error=False)
    except CycloptsError as error:
        print(describe_usage_error(error), file=sys.stderr)
        return 2


def _not_loaded() -> None:
    """Stand-in for a command of which only the name is needed."""


def _lead_in() -> object:
    """Set Hob up first if a person is present and no model connected. Return a status that ends the program, or 0."""
    if not (sys.stdin and sys.stdin.isatty() and sys.stdout.isatty()):
        return 0  # piped input is kept, with a hint how to get its answer
    from hob.cli.onboarding.first_run import lead_in

    return lead_in()


def run(arguments: Sequence[str]) -> int:
    """Run a command; return its exit status: 1 if it failed, 2 for wrong use or invalid settings."""
    if sys.stdout is None:  # closed by the caller
        sys.stdout = io.StringIO()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and stream.encoding.lower() != "utf-8":
            stream.reconfigure(errors="replace")  # a character that this terminal cannot show is not a failure
    try:
        status = _perform([_as_text(word) for word in arguments])
        sys.stdout.flush()
        return status if isinstance(status, int) else 0
    except BaseException as error:  # Ctrl-C too; what cannot be explained is raised again
        told = _explain(error)
        if told is None:
            raise
        return told


def _as_text(word: str) -> str:
    """Decode an argument as UTF-8 that the locale left undecoded."""
    if word.isascii() or word.isprintable():
        return word
    try:
        return os.fsencode(word).decode()
    except UnicodeError:
        return word


def _explain(error: BaseException) -> int | None:
    """Print what is wrong and return the exit status; None for an unexpected error."""
    # these imports take half the time of `hob --help`
    from hob.core.errors import HobError, HomeInUse, InvalidRequest, NotConfigured, NotReady, innermost

    match error := innermost(error):
        case NotConfigured() | InvalidRequest() if not isinstance(error, NotReady):
            print(f"hob: {_(str(error))}", file=sys.stderr)
            return 2  # a service does not restart after 2, but does after 1
        case HomeInUse():
            told = _("{error}; stop it first (`hob stop`), or set HOB_HOME to another directory")
            print(f"hob: {told.format(error=_(str(error)))}", file=sys.stderr)
            return 1
        case HobError():
            print(f"hob: {_(str(error))}", file=sys.stderr)
            return 1
        case BrokenPipeError():
            # the reader closed the pipe; prevent the interpreter from noticing it again at exit
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 1
        case OSError() if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO):
            print(f"hob: {error.strerror}{f': {error.filename}' if error.filename else ''}", file=sys.stderr)
            return 1
        case KeyboardInterrupt():
            return 130
        case _:
            return None
