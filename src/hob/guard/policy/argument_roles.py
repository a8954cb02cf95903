"""What the arguments of each tool mean: which of them are files, addresses, texts that leave, commands.

A tool without a reading, or a call with an argument that its reading does not know, is exempt from nothing: nobody can
say where it leads. That is the right default for tools of others.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields


@dataclass(frozen=True, slots=True)
class ArgumentRole:
    """The names of a tool's arguments by what they are.

    `paths` lie in the file tree, `sources` are files whose content leaves with the call, `recipients` are people's
    addresses (on the platform that the argument `channel` names), `urls` are fetched, `sent_to` are web addresses that
    something is sent to, `bodies` are texts that leave, `inputs` are typed into `commands`, `hosts` are what a command
    may reach, `keys` are names of settings, `patches` name the files they change; `plain` lead nowhere.

    `runs`: it runs in Hob's sandbox. `joins`: what is written goes to a command that runs already, with the network
    that one was given. `searches`: it asks the configured search provider and nobody else. `configures`: it changes
    Hob's settings or hooks. `invites`: without recipients it reaches nobody.
    """

    paths: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    recipients: tuple[str, ...] = ()
    channel: tuple[str, ...] = ()
    urls: tuple[str, ...] = ()
    sent_to: tuple[str, ...] = ()
    bodies: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    inputs: tuple[str, ...] = ()
    directory: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    patches: tuple[str, ...] = ()
    plain: tuple[str, ...] = ()
    runs: bool = False
    joins: bool = False
    searches: bool = False
    configures: bool = False
    invites: bool = False

    def known(self) -> frozenset[str]:
        """Every argument it knows."""
        values = (getattr(self, each.name) for each in fields(self))
        return frozenset(name for value in values if isinstance(value, tuple) for name in value)


_TEXTS = ("content", "old_text", "new_text", "replace_all")
_WHICH = ("offset", "limit", "lines", "depth", "all", "at", "raw", "page", "pages")
_FIND = ("glob", "context", "ignore_case", "literal", "type", "mode")

READINGS: Mapping[str, ArgumentRole] = {
    "read": ArgumentRole(paths=("path",), plain=_WHICH),
    "write": ArgumentRole(paths=("path",), plain=_TEXTS),
    "edit": ArgumentRole(paths=("path",), plain=_TEXTS),
    "apply_patch": ArgumentRole(patches=("patch",)),
    "list_dir": ArgumentRole(paths=("path",), plain=_WHICH),
    "glob": ArgumentRole(paths=("path", "pattern"), plain=_WHICH),
    "grep": ArgumentRole(paths=("path",), plain=("pattern", *_FIND, *_WHICH)),
    "resolve_path": ArgumentRole(paths=("path",)),
    "delete_file": ArgumentRole(paths=("path",)),
    "exec": ArgumentRole(
        commands=("command",),
        inputs=("stdin",),
        directory=("cwd",),
        hosts=("hosts", "network"),
        plain=("timeout", "background", "pty"),
        runs=True,
    ),
    "process": ArgumentRole(
        commands=("data",),
        plain=("action", "id", "timeout", "eof"),
        runs=True,
        joins=True,
    ),
    "remember": ArgumentRole(plain=("text",)),
    "recall": ArgumentRole(plain=("query", "limit", "untrusted")),
    "update_working_memory": ArgumentRole(plain=("content",)),
    "ask_user": ArgumentRole(plain=("question", "options")),
    "report_progress": ArgumentRole(plain=("text", "percent")),
    "load_tools": ArgumentRole(plain=("group",)),
    "web_search": ArgumentRole(plain=("query", "count", "freshness", "country", "language"), searches=True),
    "web_fetch": ArgumentRole(urls=("url",), plain=("max_chars", "format", "extract_mode", "offset")),
    "web_post": ArgumentRole(sent_to=("url",), bodies=("body", "data"), plain=("content_type",)),
    "mail_send": ArgumentRole(
        recipients=("to", "cc", "bcc"), bodies=("subject", "body", "text"), sources=("attachments",)
    ),
    "message_send": ArgumentRole(
        recipients=("to",), channel=("channel",), bodies=("text", "message"), sources=("media", "attachments")
    ),
    "send_message": ArgumentRole(
        recipients=("to",), channel=("channel",), bodies=("text", "message"), sources=("media", "attachments")
    ),
    "calendar_add": ArgumentRole(
        recipients=("attendees",),
        bodies=("title", "description", "location"),
        plain=("start", "end", "reminder"),
        invites=True,
    ),
    "config_set": ArgumentRole(keys=("key",), plain=("value",), configures=True),
    "hooks_write": ArgumentRole(plain=("name", "content"), configures=True),
}
"""Hob's own tools, and those whose names and arguments are usual."""
