"""What the arguments of tools with usual names mean. A tool whose spec says it itself is read as it says.

A tool without a reading, or a call with an argument that its reading does not know, is exempt from nothing: nobody can
say where it leads. That is the right default for tools of others.
"""

from collections.abc import Callable, Iterator, Mapping

from hob.core.argument_roles import ArgumentRole
from hob.core.tools import ToolSpec

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
    "memory_search": ArgumentRole(plain=("query", "limit", "untrusted")),
    "memory_get": ArgumentRole(plain=("path", "start", "lines")),
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


class RolesByTool(Mapping[str, ArgumentRole]):
    """What the specs of these tools say of their arguments, else what tools of that name usually mean."""

    def __init__(self, specs: Callable[[], Mapping[str, ToolSpec]]) -> None:
        self._specs = specs

    def __getitem__(self, name: str) -> ArgumentRole:
        spec = self._specs().get(name)
        return spec.roles if spec is not None and spec.roles is not None else READINGS[name]

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys((*self._specs(), *READINGS)))

    def __len__(self) -> int:
        return len(set(self))
