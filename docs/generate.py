"""Writes `docs/reference/` and the marked parts of `docs/explanation/` from the code.

Run by `make docs`; `tests/docs` compares the result with the committed files.

Texts come from docstrings and tables. For things without a docstring of their own (an event's name, a field of an
answer), the sentence is in `wording.py`; a missing sentence is a KeyError.
"""

import dataclasses
import importlib
import inspect
import json
import pkgutil
import re
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, NotRequired, get_args, get_origin, get_type_hints, is_typeddict

from glossary import page as glossary_page
from live_page import live
from markdown import answer_words, cell, doc, fenced, field_table, signature
from modules import modules
from openapi import answers_here, openapi
from settings_page import reference
from tool_page import tools
from typescript import client_types
from usage import inner_names, usage_of
from wording import EVENT_KINDS, EVENTS, REASONS, REFUSALS

import hob
from hob.agent.commands.table import CommandTiming
from hob.app.endpoints import ENDPOINTS
from hob.app.settings.sections import SECTIONS
from hob.app.subsystem import api_v1_of
from hob.app.subsystems import SLASH_COMMANDS, SUBSYSTEMS
from hob.cli.table import COMMANDS, load_command, overview
from hob.core import errors, states, steps
from hob.core.events import hooks
from hob.core.events.timeline import EventKind, TimelineEvent
from hob.core.ids import ApprovalId, EventId, InboundId, SessionKey, SpanId, TraceId, TurnId
from hob.core.messages import OutboundKind
from hob.core.models import Usage
from hob.core.translation.sentences import ENGLISH, FAULT_SENTENCES
from hob.core.trust.labels import OWNER_LABEL
from hob.gateway.chat.inbound import ClientEvent
from hob.gateway.dashboard.endpoint_names import RESERVED
from hob.gateway.http.endpoint import Endpoint
from hob.gateway.http.failures import STATUS, failure_of, status_of_fault
from hob.gateway.http.fields import Field, choices_of, fields_of
from hob.gateway.routes.views import chat_view, event_view, usage_view
from hob.guard.policy.modes import ACTS, Autonomy, Mode, look_up
from hob.guard.policy.rule_names import RULES
from hob.providers.catalog.catalog import CLI_WIRES, PROVIDERS
from hob.store.messages.results import Result

HERE = Path(__file__).parent / "reference"
EXPLANATION = HERE.parent / "explanation"
OPENAPI = HERE.parent / "openapi.json"
OPENAPI_V1 = HERE.parent / "openapi-v1.json"
CLIENT_TYPES = HERE.parent.parent / "web" / "src" / "api" / "schema.ts"
API_V1 = api_v1_of(SUBSYSTEMS)


def openapi_file() -> str:
    """Return the OpenAPI file, from which clients and tests are generated."""
    return json.dumps(openapi(ENDPOINTS), indent=1, ensure_ascii=False) + "\n"


def openapi_v1_file() -> str:
    """Return the OpenAPI file of the dashboard's API."""
    return json.dumps(openapi(API_V1, "http://127.0.0.1:18791"), indent=1, ensure_ascii=False) + "\n"


def pages() -> dict[str, str]:
    """Return every generated page by its file name in `docs/reference/`."""
    made: dict[str, Callable[[], str]] = {
        "settings.md": lambda: reference(SECTIONS),
        "commands.md": commands,
        "states.md": state_machines,
        "steps.md": journalled_steps,
        "timeline.md": timeline,
        "errors.md": error_tree,
        "api.md": api,
        "dashboard-api.md": dashboard_api,
        "hooks.md": hook_values,
        "glossary.md": glossary_page,
        "modules.md": lambda: modules(SECTIONS),
        "testing.md": testing,
        "providers.md": providers,
        "tools.md": tools,
        "websocket.md": lambda: live(_told, _answer_table, _words),
    }
    return {name: _with_note(write()) for name, write in made.items()}


def _with_note(text: str) -> str:
    title, _, rest = text.partition("\n")
    return f"{title}\n\n<!-- Written by `make docs` from the code; do not edit. -->\n{rest.rstrip()}\n"


# Pages


def commands() -> str:
    """Return the page of the command line and the slash commands."""
    lines = ["# Commands", "", "## `hob`", "", *fenced(overview())]
    for name, _text in COMMANDS:
        target = load_command(name)
        lines += ["", f"### `hob {name}`", ""]
        if inspect.isfunction(target):
            lines += usage_of(name, target)
            continue
        lines.append(target.help)
        for inner in inner_names(target):
            whole = f"{name} {inner}"
            lines += ["", f"#### `hob {whole}`", "", *usage_of(whole, target[inner].default_command)]
    lines += [
        "",
        "## Exit status",
        "",
        "| status | meaning |",
        "|---|---|",
        "| 0 | it worked; from `ask`: there is an answer |",
        "| 1 | it failed; from `ask`: there is an error instead of an answer |",
        "| 2 | wrong use, or wrong settings (then nothing was started) |",
        "| 75 | `ask` only: the message is kept and not answered yet; `hob ask --resume ID` waits for it |",
        "| 130 | Ctrl-C |",
        "",
        "## Slash commands",
        "",
        "Answered without a model, in the chat and over the API alike. Those that act on arrival do not wait for a",
        "running turn; the others run in order with the messages. A space before the slash makes it a message.",
        "",
        "| command | what it does | acts | who |",
        "|---|---|---|---|",
    ]
    acts = {CommandTiming.ARRIVAL: "on arrival", CommandTiming.LANE: "in order"}
    for command in SLASH_COMMANDS:
        who = "owner" if command.owner else "everybody"
        lines.append(f"| `{cell(command.usage)}` | {cell(command.text)} | {acts[command.timing]} | {who} |")
    return "\n".join(lines)


def providers() -> str:
    """Return the table of known providers."""
    lines = [
        "# Providers",
        "",
        "What `provider` may be in `provider/model`. One that is not listed needs `[model.providers.NAME]` with a wire",
        "and a base URL ([how](../how-to/connect-a-model.md#several-keys-and-servers-of-your-own)), or a package of",
        "its own ([sample](../../examples/hob-echo/README.md)).",
        "",
        "| provider | also called | speaks | key | address | asked where no model is named |",
        "|---|---|---|---|---|---|",
    ]
    for each in PROVIDERS:
        address = " or ".join(f"`{part}`" for part in (each.base_url, *each.urls) if part)
        row = (
            f"`{each.id}`",
            ", ".join(f"`{alias}`" for alias in each.aliases),
            each.wire,
            " or ".join(f"`{key}`" for key in each.keys),
            address or ("the program on PATH" if each.wire in CLI_WIRES else ""),
            f"`{each.model}`" if each.model else "its own choice",
        )
        lines.append(f"| {' | '.join(row)} |")
    lines.append("")
    return "\n".join(lines)


def state_machines() -> str:
    """Return the tables of `hob.core.states` as diagrams."""
    lines = ["# States", "", "A move that is not drawn never happens: the store refuses it.", ""]
    tables: tuple[tuple[type[StrEnum], Mapping[Any, frozenset[Any]]], ...] = (
        (states.InboxState, states.INBOX_MOVES),
        (states.TurnState, states.TURN_MOVES),
        (states.TaskState, states.TASK_MOVES),
        (states.OutboxState, states.OUTBOX_MOVES),
        (states.ApprovalState, states.APPROVAL_MOVES),
    )
    for kind, moves in tables:
        lines += [f"## {kind.__name__.removesuffix('State')}", "", doc(kind), "", "```mermaid", "stateDiagram-v2"]
        lines.append(f"    [*] --> {next(iter(kind)).value}")
        for old in kind:
            lines += [f"    {old.value} --> {new.value}" for new in kind if new in moves[old]]
            if not moves[old]:
                lines.append(f"    {old.value} --> [*]")
        lines += ["```", ""]
    lines += [
        "From `failed`, `set_aside` and `dead` only `hob retry` leads on.",
        "",
        "## What a turn's state is to the user",
        "",
        "| turn | task |",
        "|---|---|",
        *(f"| {turn.value} | {task.value} |" for turn, task in states.TASK_OF_TURN.items()),
    ]
    return "\n".join(lines)


def journalled_steps() -> str:
    """Return the kinds of steps in a turn's journal."""
    lines = [
        "# Steps",
        "",
        f"What a turn's journal holds, in the order in which it happened. A step is stored as kind, version (now"
        f" {steps.VERSION}) and JSON.",
        "Readers take every older version. A missing field gets its default, an unknown one is refused.",
        "[How a turn uses them](../explanation/turn.md).",
    ]
    for cls in get_args(steps.Step):
        lines += ["", f"## `{steps.step_kind(object.__new__(cls))}`", "", doc(cls), "", *field_table(cls)]
    return "\n".join(lines)


def timeline() -> str:
    """Return event kinds, fields and their machine-readable form."""
    sample = TimelineEvent(
        EventId("e_7f3k9q2x0b1d4h"), TraceId("5d7af05d3bec94b84abfaba4544a469f"), SpanId("9c1d0f2e3b4a5968"), None,
        1_767_225_600.0, EventKind.INBOUND, "api", session=SessionKey("api:main"), sender_id="owner",
        classification="owner", label=OWNER_LABEL, text="hello",
    )  # fmt: skip
    return "\n".join(
        [
            "# Timeline",
            "",
            "What happened, append-only. One trace is all that came of one message. Text and media can be erased, the",
            "rest of an event stays. `hob timeline` shows it, `GET /timeline` gives it as JSON.",
            "",
            "## Kinds",
            "",
            "| kind | written when |",
            "|---|---|",
            *(f"| `{kind.value}` | {EVENT_KINDS[kind]} |" for kind in EventKind),
            "",
            "## Fields",
            "",
            doc(TimelineEvent),
            "",
            *field_table(TimelineEvent),
            "",
            "## As JSON",
            "",
            *fenced(json.dumps(event_view(sample), indent=2), "json"),
        ]
    )


def error_tree() -> str:
    """Return errors by who must act, their HTTP form, and the faults of models."""
    for info in pkgutil.walk_packages(hob.__path__, "hob."):
        if not info.name.endswith("__main__"):
            importlib.import_module(info.name)  # a class exists only after its module was imported
    lines = [
        "# Errors",
        "",
        "## The tree",
        "",
        "Every error Hob raises on purpose. The sentence is its default message.",
        "",
        *_tree(errors.HobError, 0),
        "",
        "## Over HTTP",
        "",
        'The body is `{"error": {"code": ..., "message": ...}}`. Where waiting helps there is `Retry-After`.',
        "Nothing was accepted.",
        "",
        "| error | status | code | Retry-After |",
        "|---|---|---|---|",
    ]
    _complete(REFUSALS, STATUS.keys() - {failure_of(error).code for error in _samples()})
    for error in _samples():
        failure = failure_of(error)
        wait = "" if failure.retry_after is None else f"{failure.retry_after} s"
        scope = ""
        if isinstance(error, errors.Busy):
            scope, wait = f" ({error.scope.value})", "by what waits"
        lines.append(f"| {type(error).__name__}{scope} | {failure.status} | `{failure.code}` | {wait} |")
    lines += [
        *(f"| {text} | {STATUS[code]} | `{code}` | {wait} |" for code, (text, wait) in REFUSALS.items()),
        "",
        "## Why a model gave no answer",
        "",
        "The message was accepted and its turn has failed: `error.code` of the answer, the status of `POST /chat` and",
        "of `GET /chat/{id}`, and what people are told.",
        "",
        "| code | status | sentence |",
        "|---|---|---|",
    ]
    for fault in errors.ModelFault:
        text = ENGLISH[FAULT_SENTENCES[fault]].replace("\n", " ")
        lines.append(f"| `{fault.value}` | {status_of_fault(fault.value)} | {cell(text)} |")
    lines += [
        "",
        "## Why a turn ended otherwise",
        "",
        "| code | status | meaning |",
        "|---|---|---|",
        *(f"| `{code}` | {status_of_fault(code)} | {text} |" for code, text in REASONS.items()),
    ]
    return "\n".join(lines)


def _samples() -> Iterator[errors.HobError]:
    yield errors.InvalidRequest()
    yield errors.KeyReused()
    yield errors.NotAllowed()
    yield errors.NotFound()
    for scope in errors.BusyScope:
        yield errors.Busy(scope, 1.0)
    yield errors.ShuttingDown()
    yield errors.StoreFull()
    yield errors.StoreError()
    yield errors.NotConfigured()
    yield errors.HobError()


def api() -> str:
    """Return routes, requests, answers and the event stream."""
    lines = [
        "# API",
        "",
        "HTTP and JSON on `gateway.host` and `gateway.port`, and on the Unix socket `hob.sock` in the home. Over TCP",
        "every call carries `Authorization: Bearer TOKEN`: your own (`hob token show`), or one that has the route's",
        "[scope](../how-to/talk-to-the-api.md#give-each-program-a-token-of-its-own); the socket is the owner's",
        "alone and asks for none. [How to use it](../how-to/talk-to-the-api.md). For programs:",
        "`docs/openapi.json`.",
        "",
        "Every route may also fail with the codes that concern all of them ([errors](errors.md#over-http)).",
        "",
        "## Routes",
        "",
    ]
    for endpoint in ENDPOINTS:
        lines += _endpoint(endpoint)
    lines += [
        "## What they answer",
        "",
        "Times are Unix seconds. A client ignores fields that it does not know: more may come.",
        "",
    ]
    shown: list[Any] = []
    for endpoint in ENDPOINTS:
        for _, answer in answers_here(endpoint):
            lines += _answer_table(answer, shown)
    lines += [
        "### `POST /chat`",
        "",
        "An answer, and a failure:",
        "",
    ]
    views = [chat_view(result) for result in _results()]
    for view in views[:2]:
        lines += [*fenced(json.dumps(view, indent=2), "json"), ""]
    lines += [
        "| status of `POST /chat` and `GET /chat/{id}` | meaning |",
        "|---|---|",
        "| 200 | there is an outcome: an answer, a command's answer, a silence with its reason, or it was cancelled |",
        "| 202 | it takes longer than `wait`, or waits for an answer; `Location` says where to ask |",
        "| 400, 403, 429, 503, 507 | nothing was accepted ([errors](errors.md#over-http)) |",
        "| 402, 429, 502, 503, 504, and an `id` | accepted, failed ([errors](errors.md#why-a-model-gave-no-answer)) |",
        "",
        "## Events",
        "",
        "Server-sent events, one JSON object each. The stream ends with `result` or `error`. More than one message,",
        "and whatever else happens, is followed over the [WebSocket](websocket.md).",
        "",
        "| event | meaning | data |",
        "|---|---|---|",
    ]
    names = re.findall(r"\b[a-z]+\b", doc(ClientEvent).partition(":")[2])
    _complete(EVENTS, set(names) - {"and", "last", "or"})
    lines += [f"| `{name}` | {meaning} | {data} |" for name, (meaning, data) in EVENTS.items()]
    lines += ["", "## Usage", "", *fenced(json.dumps(usage_view(Usage(404, 3), None), indent=2), "json")]
    return "\n".join(lines)


def dashboard_api() -> str:
    """Return the routes below `/api/v1`."""
    lines = [
        "# Dashboard API",
        "",
        "HTTP and JSON below `/api/v1` on `dashboard.port` (127.0.0.1:18791), for the page and programs. Every call",
        "carries `Authorization: Bearer TOKEN`, or a login's cookie and its `X-CSRF-Token`",
        "([how](../how-to/open-the-dashboard.md)). Live events come over the [WebSocket](websocket.md) `/ws`,",
        "at the same address. A failure is `application/problem+json` with its [code](errors.md#over-http). Answers",
        "with an `ETag` are 304 where nothing has changed. The scope `view` gets them without what messages say.",
        "Plug-ins cannot add routes below these names, which are Hob's or will be:",
        f"{', '.join(f'`{each}`' for each in RESERVED)}.",
        "Those that Hob does not have yet answer 404. For programs: `docs/openapi-v1.json`.",
        "",
        "## Routes",
        "",
    ]
    for endpoint in API_V1:
        lines += _endpoint(endpoint)
    lines += ["## What they answer", ""]
    shown: list[Any] = []
    for endpoint in API_V1:
        for _, answer in answers_here(endpoint):
            lines += _answer_table(answer, shown)
    return "\n".join(lines)


def _answer_table(answer: Any, shown: list[Any]) -> Iterator[str]:
    """Yield the fields of an answer, and of nested answers that were not shown yet."""
    if not is_typeddict(answer) or answer in shown:
        return
    shown.append(answer)
    about, told_of = answer_words(answer)
    yield from (f"### {_words(answer)}", "", about.replace("\n", " "), "")
    yield from ("| field | type | meaning |", "|---|---|---|")
    inner = []
    for name, kind in get_type_hints(answer, include_extras=True).items():
        optional = name in answer.__optional_keys__
        kind = get_args(kind)[0] if get_origin(kind) is NotRequired else kind
        kind, told = get_args(kind) if get_origin(kind) is Annotated else (kind, told_of.get(name, ""))
        inner += [kind, *get_args(kind), *(part for each in get_args(kind) for part in get_args(each))]
        yield f"| `{name}` | {_type_words(kind)}{', perhaps' if optional else ''} | {cell(told)} |"
    yield ""
    for each in inner:
        yield from _answer_table(each, shown)


def _words(answer: Any) -> str:
    """Return a class name in words, without `Answer`: `ChatAnswer` as `Chat`."""
    return re.sub(r"(?<=[a-z])([A-Z])", lambda found: f" {found[1].lower()}", answer.__name__.removesuffix("Answer"))


def _type_words(kind: Any) -> str:
    """Return the JSON type of an answer's field."""
    plain = {str: "text", int: "number", float: "number", bool: "true or false", type(None): "null"}
    if get_origin(kind) in (list, Sequence):
        return f"list of {_type_words(get_args(kind)[0])}"
    if get_origin(kind) in (dict, Mapping):
        return "object"
    if is_typeddict(kind):
        return f"[{_words(kind).lower()}](#{_words(kind).lower().replace(' ', '-')})"
    parts = get_args(kind)
    return " or ".join(_type_words(each) for each in parts) if parts else plain.get(kind, "anything")


def _endpoint(endpoint: Endpoint[Any]) -> Iterator[str]:
    """Yield a route: purpose, callers, parameters and answers."""
    scopes = () if endpoint.scope is None else (endpoint.scope, *endpoint.also)
    scope = f"scope {' or '.join(f'`{each.value}`' for each in scopes)}" if scopes else "everybody"
    yield f"### `{endpoint.method} {endpoint.path}`"
    yield ""
    yield from (f"For {'the Unix socket only' if endpoint.local else scope}.", "")
    yield from (inspect.getdoc(endpoint.handler) or "", "")
    taken = () if endpoint.raw else fields_of(endpoint.takes)
    if taken:
        where = "As a JSON object." if endpoint.has_body else "In the query."
        yield from (where, "", "| field | meaning |", "|---|---|")
        yield from (f"| `{field.name}` | {cell(_told(field))} |" for field in taken)
        yield ""
    if endpoint.raw:
        yield from ("The body is taken as it is.", "")
    if endpoint.headers:
        yield from ("| header | meaning |", "|---|---|")
        yield from (f"| `{name}` | {meaning} |" for name, meaning in endpoint.headers)
        yield ""
    answers = ", ".join(f"{status}{_named(answer)}" for status, answer in answers_here(endpoint))
    codes = ", ".join(f"`{code}`" for code in endpoint.errors)
    yield f"Answers {answers}{f'; may fail with {codes}' if codes else ''}."
    yield ""


def _named(answer: Any) -> str:
    """Return a link to the answer's table, if it has one."""
    return f" with {_type_words(answer)}" if is_typeddict(answer) else ""


def _told(field: Field) -> str:
    """Return a field's meaning, with its bounds and default."""
    bounds = field.bounds
    words = [bounds.doc]
    if bounds.unit:
        words.append(f"in {bounds.unit}")
    if choices := bounds.one_of or choices_of(field.kind):
        words.append("one of " + ", ".join(f"`{each}`" for each in choices))
    if bounds.at_most is not None:
        words.append(f"{bounds.at_least:g} to {bounds.at_most:g}")
    if bounds.characters is not None:
        words.append(f"{bounds.characters[0]} to {bounds.characters[1]} printable characters")
    if field.default not in (None, "", (), dataclasses.MISSING):
        words.append(f"`{json.dumps(field.default)}` if not given")
    return "; ".join(words)


def _results() -> Iterator[Result]:
    answered = Result(
        InboundId("m_7f3k9q2x0b1d4h"), SessionKey("api:main"), TraceId("5d7af05d3bec94b84abfaba4544a469f"),
        TurnId("t_2x0b1d4h7f3k9q"), "done", "Hello.", OutboundKind.REPLY, "", Usage(404, 3), 210, None, 0.0, 1.0, True,
    )  # fmt: skip
    yield answered
    sentence = ENGLISH[FAULT_SENTENCES[errors.ModelFault.AUTH]].format(
        detail="openai/gpt-5: api.openai.com does not accept the API key; check OPENAI_API_KEY (401 Incorrect API key)"
    )
    yield dataclasses.replace(
        answered, state="failed", kind=OutboundKind.ERROR, reason="auth", reply=sentence, usage=Usage(), cost=0
    )
    yield dataclasses.replace(answered, merged_into=InboundId("m_1d4h7f3k9q2x0b"))
    yield dataclasses.replace(answered, state="parked", question="May it?", approvals=(ApprovalId("a_7f3k9q2x"),))


def hook_values() -> str:
    """Return what hooks receive and may decide."""
    lines = ["# Hooks", "", *(inspect.getdoc(hooks) or "").splitlines(), "", "## What a hook gets"]
    for cls in get_args(hooks.HookEvent):
        lines += ["", f"### `{cls.__name__}`", "", doc(cls), "", *field_table(cls)]
    lines += ["", "## What it decides"]
    for cls in get_args(hooks.Decision):
        lines += ["", f"### `{cls.__name__}`", "", doc(cls)]
        if dataclasses.fields(cls):
            lines += ["", *field_table(cls)]
    return "\n".join(lines)


def testing() -> str:
    """Return the public twins and contract checks."""
    package = importlib.import_module("hob.testing")
    lines = [
        "# Testing",
        "",
        "`hob.testing` is part of the product: twins of what surrounds your code, and functions that check a promise",
        "on any implementation. How to use the checks: [a channel](../how-to/write-a-channel.md),",
        "[a toolset](../how-to/write-a-toolset.md).",
    ]
    for info in sorted(pkgutil.iter_modules(package.__path__), key=lambda info: info.name):
        module = importlib.import_module(f"hob.testing.{info.name}")
        lines += ["", f"## `hob.testing.{info.name}`", "", inspect.getdoc(module) or ""]
        for name, thing in vars(module).items():
            home = getattr(thing, "__module__", "")
            own = home == module.__name__ or (info.ispkg and home.startswith(f"{module.__name__}."))
            if own and not name.startswith("_") and (inspect.isclass(thing) or inspect.isfunction(thing)):
                lines += ["", f"- **`{signature(name, thing)}`**", "", textwrap.indent(doc(thing), "  ")]
                if inspect.isclass(thing) and issubclass(thing, StrEnum):
                    lines += ["", textwrap.indent(", ".join(f"`{each.value}`" for each in thing), "  ")]
    return "\n".join(lines)


# Parts of pages


def _tree(cls: type[errors.HobError], depth: int) -> Iterator[str]:
    where = "" if cls.__module__ == errors.__name__ else f" (`{cls.__module__}`)"
    yield f"{'  ' * depth}- **{cls.__name__}**{where}: {doc(cls)}"
    for below in sorted(cls.__subclasses__(), key=lambda each: (each.__module__ != errors.__name__, _line(each))):
        if below.__module__.startswith("hob."):
            yield from _tree(below, depth + 1)


def _line(cls: type) -> tuple[str, int]:
    return cls.__module__, inspect.getsourcelines(cls)[1]


def _complete(table: Mapping[str, Any], names: Iterable[str]) -> None:
    """Check that each name has a sentence and each sentence a name. Raises KeyError."""
    if wrong := set(table) ^ set(names):
        raise KeyError(f"docs/generate.py and the code differ about {', '.join(sorted(wrong))}")


def filled(page: str) -> str:
    """Return a handwritten page with the parts between its marks (`<!-- make docs: NAME -->`) generated."""
    written: dict[str, Callable[[], str]] = {"modes": modes_table, "rules": policy_rules}

    def write(found: re.Match[str]) -> str:
        return f"{found[1]}\n\n{written[found[2]]().rstrip()}\n\n{found[3]}"

    return re.sub(r"(<!-- make docs: (\w+) -->).*?(<!-- end -->)", write, page, flags=re.DOTALL)


def modes_table() -> str:
    """Return a Markdown table with a column per mode and level of autonomy."""
    columns = [(mode, autonomy) for mode in Mode for autonomy in Autonomy]
    head = " | ".join(f"{mode}, {autonomy}" for mode, autonomy in columns)
    lines = [f"| what a call does | {head} |", f"|---{'|---' * len(columns)}|"]
    for act, text in ACTS.items():
        cells = " | ".join(look_up(act, mode, autonomy) for mode, autonomy in columns)
        lines.append(f"| {text} | {cells} |")
    return "\n".join(lines) + "\n"


def policy_rules() -> str:
    """Return the rules of the policy by name."""
    return "\n".join(
        ("| rule | what it says |", "|---|---|", *(f"| `{name}` | {cell(text)} |" for name, text in RULES.items()))
    )


def main() -> None:
    """Write the pages; print those that changed."""
    HERE.mkdir(exist_ok=True)
    found = {HERE / name: text for name, text in pages().items()}
    found[OPENAPI] = openapi_file()
    found[OPENAPI_V1] = openapi_v1_file()
    found[CLIENT_TYPES] = client_types(json.loads(found[OPENAPI_V1]))
    found |= {file: filled(file.read_text("utf-8")) for file in EXPLANATION.glob("*.md")}
    for file, text in found.items():
        _write(file, text)


def _write(file: Path, text: str) -> None:
    if not file.exists() or file.read_text("utf-8") != text:
        file.write_text(text, "utf-8")
        sys.stdout.write(f"{file.relative_to(Path.cwd()) if file.is_relative_to(Path.cwd()) else file}\n")


if __name__ == "__main__":
    main()
