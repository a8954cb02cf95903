"""Simulated services as tools with the usual names: mail, calendar, web, cron, skills, messages, settings.

Their names, arguments and effects equal those of Hob's own tools, so that a guard can be tested with them. Everything
sent, posted, planned or set through them is recorded in `SimulatedWorld.done` and reaches no one.
"""

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import field
from typing import Any

from hob.core.argument_roles import ArgumentRole
from hob.core.errors import ToolFailed
from hob.core.ids import SessionKey
from hob.core.ports.tools import CallContext, Toolset
from hob.core.tools import Effect, Restart, Tier, ToolCall, ToolResult, ToolSpec
from hob.core.values import dataclass
from hob.testing.toolset import FunctionTool, FunctionTools

_TEXT: Mapping[str, Any] = {"type": "string"}
_TEXTS: Mapping[str, Any] = {"type": "array", "items": {"type": "string"}}
_NUMBER: Mapping[str, Any] = {"type": "integer"}
_READS = frozenset({Effect.READS_PRIVATE, Effect.READS_UNTRUSTED})
_FETCHES = frozenset({Effect.READS_UNTRUSTED, Effect.COMMUNICATES})
_SENDS = frozenset({Effect.COMMUNICATES, Effect.WRITES_FINALLY})
_INVITES = frozenset({Effect.COMMUNICATES, Effect.WRITES})
_PERSISTS = frozenset({Effect.PERSISTS})
_ROLES: Mapping[str, ArgumentRole] = {
    "mail_send": ArgumentRole(recipients=("to", "cc", "bcc"), bodies=("subject", "body"), sources=("attachments",)),
    "calendar_add": ArgumentRole(
        recipients=("attendees",),
        bodies=("title", "description", "location"),
        plain=("start", "end", "reminder"),
        invites=True,
    ),
    "web_search": ArgumentRole(plain=("query", "count"), searches=True),
    "web_fetch": ArgumentRole(urls=("url",), plain=("max_chars",)),
    "web_post": ArgumentRole(sent_to=("url",), bodies=("body",)),
    "message_send": ArgumentRole(recipients=("to",), channel=("channel",), bodies=("text",), sources=("attachments",)),
    "config_set": ArgumentRole(keys=("key",), plain=("value",), configures=True),
    "hooks_write": ArgumentRole(plain=("name", "content"), configures=True),
}


@dataclass(frozen=True, slots=True)
class Mail:
    """A mail in the owner's inbox; `files` are the names of its attachments."""

    sender: str
    subject: str
    body: str
    files: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Done:
    """One recorded action with its arguments."""

    tool: str
    arguments: Mapping[str, Any]

    @property
    def text(self) -> str:
        """The arguments as one text."""
        return json.dumps(self.arguments, ensure_ascii=False)


@dataclass(slots=True)
class SimulatedWorld:
    """The simulated outside world; `done` lists the actions in order.

    `mails`, `pages` (by URL), `found` (search results by query), `events` and `chats` (messages by chat) can be read;
    an answer that begins with `ERROR ` is the tool's error.
    """

    mails: dict[str, Mail] = field(default_factory=dict)
    pages: dict[str, str] = field(default_factory=dict)
    found: dict[str, str] = field(default_factory=dict)
    events: dict[str, str] = field(default_factory=dict)
    chats: dict[str, str] = field(default_factory=dict)
    done: list[Done] = field(default_factory=list)

    def tools(self) -> FunctionTools:
        """Return all simulated tools."""
        return FunctionTools(*(tool for kind in self._kinds() for tool in kind()))

    def _kinds(self) -> Sequence[Callable[[], Sequence[FunctionTool]]]:
        return (self._mail, self._calendar, self._web, self._cron, self._skills, self._messages, self._configuration)

    def beside(self, own: Toolset, *real: Toolset) -> Toolset:
        """Return these tools combined with others that may vary by session; `real` tools replace simulated ones of
        their name.
        """
        names = {spec.name for each in real for spec in each.specs()}
        played = FunctionTools(*(tool for kind in self._kinds() for tool in kind() if tool.spec.name not in names))
        for each in (played, *real):
            own = _CombinedToolset(own, each)
        return own

    def _mail(self) -> Sequence[FunctionTool]:
        async def listed(_: Mapping[str, Any]) -> str:
            return "\n".join(f"{id}: {mail.sender}: {mail.subject}" for id, mail in self.mails.items()) or "(no mail)"

        return (
            _tool("mail_list", "The inbox.", listed, {}, Tier.READ, _READS),
            _tool("mail_read", "Read a mail.", self._read_mail, {"id": _TEXT}, Tier.READ, _READS),
            self._does(
                "mail_send",
                "Send a mail.",
                {"to": _TEXTS, "cc": _TEXTS, "bcc": _TEXTS, "subject": _TEXT, "body": _TEXT, "attachments": _TEXTS},
                _SENDS,
                needs=("to",),
            ),
            self._does("mail_delete", "Delete a mail.", {"id": _TEXT}, frozenset({Effect.WRITES_FINALLY})),
        )

    def _calendar(self) -> Sequence[FunctionTool]:
        times = {"start": _TEXT, "end": _TEXT, "reminder": _NUMBER}
        words = {"title": _TEXT, "description": _TEXT, "location": _TEXT, "attendees": _TEXTS}
        return (
            _tool("calendar_list", "What is planned.", _giving(self.events), {"day": _TEXT}, Tier.READ, _READS),
            self._does(
                "calendar_add", "Plan something; attendees are invited.", {**words, **times}, _INVITES, ("title",)
            ),
        )

    def _web(self) -> Sequence[FunctionTool]:
        async def fetch(arguments: Mapping[str, Any]) -> str:
            self.done.append(Done("web_fetch", arguments))
            return _given(self.pages, str(arguments["url"]))

        search = {"query": _TEXT, "count": _NUMBER}
        return (
            _tool("web_search", "Search the web.", _giving(self.found), search, Tier.READ, _FETCHES, ("query",)),
            _tool(
                "web_fetch", "Fetch a page.", fetch, {"url": _TEXT, "max_chars": _NUMBER}, Tier.READ, _FETCHES, ("url",)
            ),
            self._does("web_post", "Send a form.", {"url": _TEXT, "body": _TEXT}, _SENDS, ("url",)),
        )

    def _cron(self) -> Sequence[FunctionTool]:
        job = {"schedule": _TEXT, "text": _TEXT}
        return (self._does("cron_add", "Be woken with a text.", job, _PERSISTS, ("schedule", "text")),)

    def _skills(self) -> Sequence[FunctionTool]:
        skill = {"name": _TEXT, "content": _TEXT}
        return (self._does("skill_write", "Write a skill.", skill, _PERSISTS, ("name", "content")),)

    def _messages(self) -> Sequence[FunctionTool]:
        message = {"to": _TEXTS, "channel": _TEXT, "text": _TEXT, "attachments": _TEXTS}
        return (
            _tool("message_list", "Read a chat.", _giving(self.chats), {"chat": _TEXT}, Tier.READ, _READS),
            self._does("message_send", "Write to somebody.", message, _SENDS, ("to", "text")),
        )

    def _configuration(self) -> Sequence[FunctionTool]:
        return (
            self._does("config_set", "Change a setting.", {"key": _TEXT, "value": _TEXT}, _PERSISTS, ("key", "value")),
            self._does(
                "hooks_write", "Write a hook.", {"name": _TEXT, "content": _TEXT}, _PERSISTS, ("name", "content")
            ),
        )

    async def _read_mail(self, arguments: Mapping[str, Any]) -> str:
        mail = self.mails.get(str(arguments["id"]))
        if mail is None:
            raise ToolFailed(f"there is no mail {arguments['id']}")
        files = f"\nattached: {', '.join(mail.files)}" if mail.files else ""
        return f"from {mail.sender}\nsubject: {mail.subject}{files}\n\n{mail.body}"

    def _does(
        self,
        name: str,
        description: str,
        properties: Mapping[str, Any],
        effects: frozenset[Effect],
        needs: Sequence[str] | None = None,
    ) -> FunctionTool:
        async def do(arguments: Mapping[str, Any]) -> str:
            self.done.append(Done(name, arguments))
            return "done"

        return _tool(name, description, do, properties, Tier.HIGH_RISK, effects, needs)


class _CombinedToolset:
    """Implements `Toolset`."""

    def __init__(self, own: Toolset, more: Toolset) -> None:
        self._own = own
        self._more = more
        self._names = {spec.name for spec in more.specs()}

    def specs(self) -> tuple[ToolSpec, ...]:
        return (*self._own.specs(), *self._more.specs())

    def of(self, session: SessionKey) -> Toolset:
        """Return the tools available to this session."""
        of: Callable[[SessionKey], Toolset] | None = getattr(self._own, "of", None)
        return self if of is None else _CombinedToolset(of(session), self._more)

    async def call(self, call: ToolCall, context: CallContext) -> ToolResult:
        return await (self._more if call.name in self._names else self._own).call(call, context)


def _tool(
    name: str,
    description: str,
    function: Callable[[Mapping[str, Any]], Awaitable[str]],
    properties: Mapping[str, Any],
    tier: Tier,
    effects: frozenset[Effect],
    needs: Sequence[str] | None = None,
) -> FunctionTool:
    required = list(properties if needs is None else needs)
    schema = {"type": "object", "properties": dict(properties), "required": required, "additionalProperties": False}
    restart = Restart.AGAIN if tier is Tier.READ else Restart.NEVER
    return FunctionTool(ToolSpec(name, description, schema, tier, effects, restart, roles=_ROLES.get(name)), function)


def _giving(texts: Mapping[str, str]) -> Callable[[Mapping[str, Any]], Awaitable[str]]:
    async def give(arguments: Mapping[str, Any]) -> str:
        return _given(texts, str(next(iter(arguments.values()), "")))

    return give


def _given(texts: Mapping[str, str], name: str) -> str:
    text = texts.get(name, "(nothing)")
    if text.startswith("ERROR "):
        raise ToolFailed(text.removeprefix("ERROR "))
    return text
