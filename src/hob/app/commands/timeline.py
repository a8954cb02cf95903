"""`hob timeline`: what happened, one trace as a tree of spans or the latest events."""

from collections.abc import Mapping
from typing import Any

from hob.app.commands.output import line, paint, print_json, when
from hob.app.reaching import reach
from hob.config import find_home, process_environment

KIND_COLOURS = {"inbound": "blue", "outbound": "green", "model": "magenta", "tool": "cyan", "turn": "bold"}


def timeline(*, trace: str | None = None, session: str | None = None, limit: int = 50, json: bool = False) -> int:
    """What happened, by trace.

    Parameters
    ----------
    trace:
        Show this trace whole, as a tree.
    session:
        Only this session.
    limit:
        The most events to show, the newest.
    json:
        Print JSON.
    """

    async def here(app: Any) -> Mapping[str, Any]:
        from hob.gateway.views import timeline_view  # brings the database, needed without a daemon only

        return await timeline_view(app.store, trace=trace, session=session, limit=limit)

    query = {"limit": str(limit)} | {k: v for k, v in (("trace", trace), ("session", session)) if v}
    home = find_home(process_environment())
    seen = reach(home, "GET", "/timeline", query, here)
    if json:
        print_json(seen)
        return 0
    events = seen["events"]
    if not events:
        print(f"No events{f' in trace {trace}' if trace else ' yet'}.")
    depths = _depths(events) if trace else {}
    for event in events:
        print(_row(event, depths.get(event["span_id"], 0), with_trace=not trace))
    return 0


def _depths(events: list[Mapping[str, Any]]) -> dict[str, int]:
    parents = {event["span_id"]: event["parent_span_id"] for event in events}
    depths: dict[str, int] = {}
    for span in parents:
        depth, above, seen = 0, parents[span], {span}
        while above in parents and above not in seen:
            seen.add(above)
            depth, above = depth + 1, parents[above]
        depths[span] = depth
    return depths


def _row(event: Mapping[str, Any], depth: int, *, with_trace: bool) -> str:
    kind = paint(event["kind"].ljust(10), KIND_COLOURS.get(event["kind"], "dim"))
    status = "" if event["status"] == "ok" else " " + paint(event["status"], "red")
    took = "" if event["seconds"] is None else paint(f" {event['seconds'] * 1000:.0f} ms", "dim")
    usage = event["usage"]
    tokens = "" if usage is None else paint(f" {usage['input_tokens']}→{usage['output_tokens']} tokens", "dim")
    trace = paint(event["trace_id"][:8] + "  ", "dim") if with_trace else ""
    text = f"  {line(event['text'], 60)}" if event["text"] else ""
    return f"{when(event['at'])}  {trace}{'  ' * depth}{kind} {event['name']}{status}{took}{tokens}{text}"
