"""`hob timeline`: the latest events, or everything one message caused, as a tree."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hob.app.daemon.daemon_client import local_key, reach
from hob.cli.dates_and_figures import number, when
from hob.cli.output import Cell, line, paint, print_table, printed_json, status_word
from hob.cli.translating import _
from hob.core.errors import NotFound
from hob.core.events.timeline import EventKind
from hob.core.messages import OutboundKind
from hob.core.states import TurnState
from hob.core.translation.code_words import STATE_WORDS
from hob.core.translation.language import translatable
from hob.core.turns import WaitsFor
from hob.guard.policy.rule_names import describe_rule

KIND_COLOURS = {"inbound": "blue", "outbound": "green", "model": "magenta", "tool": "cyan", "turn": "bold"}
KIND_WORDS: Mapping[str, str] = {
    EventKind.INBOUND: translatable("message"),
    EventKind.OUTBOUND: translatable("reply"),
    EventKind.TURN: translatable("turn"),
    EventKind.MODEL: translatable("model"),
    EventKind.TOOL: translatable("tool"),
    EventKind.APPROVAL: translatable("approval"),
    EventKind.POLICY: translatable("policy"),
    EventKind.STEER: translatable("addition"),
    EventKind.COMMAND: translatable("command"),
    EventKind.SESSION: translatable("conversation"),
    EventKind.COMPACTION: translatable("summary"),
    EventKind.DELIVERY: translatable("delivery"),
    EventKind.SUBAGENT: translatable("sub-agent"),
    EventKind.MEMORY: translatable("memory"),
    EventKind.SYSTEM: translatable("Hob"),
}
"""Kinds of events, in words."""
REPLY_WORDS: Mapping[str, str] = {
    OutboundKind.ERROR: translatable("(why there is no answer)"),
    OutboundKind.NOTICE: translatable("(a notice)"),
    OutboundKind.QUESTION: translatable("(a question)"),
}
"""Kinds of replies other than answers."""
TURN_WORDS: Mapping[str, str] = {
    TurnState.READY: translatable("ready to continue"),
    TurnState.RUNNING: translatable("runs"),
    TurnState.PARKED: translatable("waits"),
    TurnState.DONE: translatable("finished"),
    TurnState.SILENT: translatable("finished without an answer"),
}
"""Turn events by the turn's new state; other states keep their own word."""
SUBAGENT_WORDS: Mapping[str, str] = {
    "spawn_accepted": translatable("accepted"),
    "begun": translatable("begun"),
    "steer": translatable("redirected"),
    "kill": translatable("stopped"),
    "killed": translatable("stopped"),
    "error": translatable("failed"),
    "timeout": translatable("no result in time"),
}
"""Events of sub-agents; others keep their own word."""

_WAITS = frozenset({"asked", WaitsFor.CHILD, WaitsFor.CLIENT})  # statuses of calls whose result comes later
_ENDED: Mapping[str, str] = {"paused": translatable("continued"), "archived": translatable("restored")}
"""The former state of a conversation that was resumed or restored."""


def timeline(*, trace: str | None = None, session: str | None = None, limit: int = 50, json: bool = False) -> None:
    """Show what happened: messages, replies and everything between.

    Parameters
    ----------
    trace:
        Show everything that one message caused, as a tree; takes the trace shown in the list, or a task's id.
    session:
        Only this conversation.
    limit:
        Show at most this many of the newest events.
    json:
        Print JSON.
    """

    session = None if session is None else local_key(session)
    query = {"limit": str(limit)} | {k: v for k, v in (("trace", trace), ("session", session)) if v}
    seen = reach("GET", "/timeline", query)
    events = seen["events"]
    if trace and not events:
        raise NotFound(
            translatable(
                "no turn, message or trace is called {id}; `hob timeline` and `hob tasks --all` show them",
                id=line(trace),
            )
        )
    if session and not events:
        reach("GET", "/sessions/show", {"session": session})  # fails if there is no such conversation
    if printed_json(seen, json):
        return
    names = (_("time"), *(() if trace else (_("trace"),)), _("event"), _("details"))
    rows = _tree(events) if trace else ((event, 0) for event in sorted(events, key=lambda event: event["at"]))
    print_table(names, [_row(event, depth, with_trace=not trace) for event, depth in rows], _("No events yet."))
    if events and not trace:
        print(paint(_("`hob timeline --trace ID` shows everything that one message caused."), "dim"))


def _tree(events: list[Mapping[str, Any]]) -> Iterator[tuple[Mapping[str, Any], int]]:
    """Yield each event below the one whose span contains it, in order of their start, with its depth.

    Events are written when they end, so a turn follows its parts in the timeline but precedes them here.
    """
    spans = {event["span_id"] for event in events}
    below: dict[str | None, list[Mapping[str, Any]]] = {}
    for event in sorted(events, key=lambda event: event["at"]):
        parent = event["parent_span_id"]
        below.setdefault(parent if parent in spans and parent != event["span_id"] else None, []).append(event)
    rest = [(event, 0) for event in reversed(below.pop(None, []))]
    while rest:
        event, depth = rest.pop()
        yield event, depth
        rest.extend((part, depth + 1) for part in reversed(below.pop(event["span_id"], [])))


def _row(event: Mapping[str, Any], depth: int, *, with_trace: bool) -> Sequence[Cell]:
    kind = "  " * depth + _(KIND_WORDS.get(event["kind"], event["kind"])), KIND_COLOURS.get(event["kind"], "dim")
    told, *further = _describe_event(event)
    if event["seconds"] is not None and event["kind"] != EventKind.APPROVAL:
        further.insert(0, f"{number(event['seconds'] * 1000, 0)} ms")
    if (usage := event["usage"]) is not None:
        put_in, came_out = (number(usage[side], 0) for side in ("input_tokens", "output_tokens"))
        further.append(_("{input} tokens in, {output} out", input=put_in, output=came_out))
    trace = ((event["trace_id"][:8], "dim"),) if with_trace else ()
    text = f"  {line(event['text'], 60)}" if event["text"] else ""
    rest = paint("".join(f", {each}" for each in further), "dim")
    return when(event["at"]), *trace, kind, f"{told}{rest}{text}"


def _describe_event(event: Mapping[str, Any]) -> tuple[str, ...]:
    """Return an event's description and its dimmed details."""
    kind, name, status = event["kind"], event["name"], event["status"]
    rule = line(_(describe_rule(status)), 70) if kind == EventKind.POLICY else ""
    colour = "yellow" if status in _WAITS else "red"
    failed = "" if status == "ok" else paint(rule or status_word(status), colour)
    if kind in (EventKind.INBOUND, EventKind.OUTBOUND):
        here, elsewhere = (
            (_("from the terminal"), _("from {channel}"))
            if kind == EventKind.INBOUND
            else (_("to the terminal"), _("to {channel}"))
        )
        told = here if name == "local" else elsewhere.format(channel=name)
        return (f"{told} {_(REPLY_WORDS[status])}" if status in REPLY_WORDS else told,)
    if kind == EventKind.TURN:
        state = event["classification"]
        told = _(TURN_WORDS.get(state, STATE_WORDS.get(state, state)))
        model = () if name in ("turn", state, "") else (_("model {name}", name=name),)
        return (f"{told}: {failed}" if failed else told, *model)
    if kind == EventKind.APPROVAL:
        ends = {
            "allowed": _("you allowed {tool}", tool=name),
            "denied": _("you denied {tool}", tool=name),
            "expired": _("you did not answer about {tool} in time", tool=name),
        }
        return (ends.get(status, _("asked you about {tool}", tool=name)),)
    if kind == EventKind.SESSION:
        name = _(_ENDED.get(name, name) if event["classification"] == "no" else STATE_WORDS.get(name, name))
    elif kind == EventKind.SUBAGENT:
        name = _(SUBAGENT_WORDS.get(name, name))
    return (": ".join(filter(None, (name or _("none"), failed))),)
