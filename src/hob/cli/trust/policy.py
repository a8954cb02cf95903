"""`hob policy`: what the policy allows, and by which rule. Runs nothing."""

import asyncio
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter

from hob.agent.turn.arguments import problems_of
from hob.app.settings.sections import read_config
from hob.app.tools.lazy_runtime import open_tool_runtime
from hob.app.trust.policy_explainer import load_guarding
from hob.bus.notices import Hub
from hob.cli.output import paint, print_json
from hob.cli.translating import _
from hob.config.environment import process_environment
from hob.config.loading import Config
from hob.core.clock import SystemClock
from hob.core.errors import InvalidRequest
from hob.core.ports.guard import Allow, Ask, Deny
from hob.core.translation.language import translatable
from hob.core.trust.labels import SenderClass
from hob.guard.approvals.question_text import visible
from hob.guard.policy.call_analysis import ToolCallAnalysis
from hob.guard.policy.context import Context
from hob.guard.policy.explanation import arguments_from, explain, explanation
from hob.guard.policy.hypothetical_calls import GuardSetup, HypotheticalTurn, decision_view, make_context
from hob.guard.policy.modes import ACTS, Act, Autonomy, Mode, ModeVerdict, look_up
from hob.guard.policy.policy import PolicyDecisionTrace
from hob.guard.screening.masking.known_secrets import KnownSecrets, readable_values, values_in
from hob.guard.settings import PolicySettings
from hob.store.settings import StoreSettings
from hob.store.store import open_store

app = App(name="policy", help="Explain what the policy allows, and by which rule.")

_VERDICTS: Mapping[ModeVerdict, tuple[str, str]] = {
    ModeVerdict.YES: (translatable("allowed"), "green"),
    ModeVerdict.NAMED: (translatable("if your words name it"), "green"),
    ModeVerdict.ASK: (translatable("needs your approval"), "yellow"),
    ModeVerdict.NO: (translatable("refused"), "red"),
}
_COLOURS: dict[type, str] = {Allow: "green", Ask: "yellow", Deny: "red"}


@app.default
def overview() -> None:
    """Show what the settings let Hob do without asking, by kind of call."""
    settings = read_config()[PolicySettings]
    print(
        _(
            "Mode {mode}, autonomy {autonomy} (policy.mode, policy.autonomy); `hob policy explain` judges one call.",
            mode=settings.mode,
            autonomy=settings.autonomy,
        )
    )
    for act in Act:
        word, colour = _VERDICTS[look_up(act, Mode(settings.mode), Autonomy(settings.autonomy))]
        print(f"  {paint(f'{_(word):24}', colour)}  {_(ACTS[act])}")


@app.command(name="explain")
def explain_(
    tool: Annotated[str, Parameter(help="The tool's name, e.g. exec.")],
    arguments: Annotated[str, Parameter(help="The arguments as JSON, or the main one as plain text.")] = "",
    /,
    *,
    as_: Annotated[
        SenderClass, Parameter(name="--as", help="The sender: owner, member, stranger.")
    ] = SenderClass.OWNER,
    tainted: Annotated[
        bool, Parameter(negative="", help="Judge it as if Hob had read text that is not yours, e.g. a web page.")
    ] = False,
    mode: Annotated[
        Mode | None,
        Parameter(
            help="Judge it in this permission mode; not given: policy.mode. read-only only reads. guarded asks before "
            "what cannot be undone. workspace and full ask less."
        ),
    ] = None,
    autonomy: Annotated[
        Autonomy | None,
        Parameter(
            help="Judge it with this autonomy; not given: policy.autonomy. supervised asks before each change. "
            "cautious and autonomous ask less."
        ),
    ] = None,
    group: Annotated[
        bool, Parameter(negative="", help="Judge it as in a group chat, where others read the answer.")
    ] = False,
    unattended: Annotated[
        bool,
        Parameter(
            negative="", help="Judge it as if you could not be asked, e.g. at night: what needs approval is refused."
        ),
    ] = False,
    words: Annotated[
        str, Parameter(help="Your message; what it names, e.g. a file or a recipient, needs less approval.")
    ] = "",
    json: Annotated[bool, Parameter(negative="", help="Print JSON.")] = False,
) -> None:
    """Show how a call would be judged, and by which rule. Runs nothing."""
    supposed = HypotheticalTurn(as_, tainted, mode, autonomy, group, unattended, words)
    explain_call(asyncio.run(_build_guard(read_config())), tool, arguments, supposed, as_json=json)


async def _build_guard(config: Config) -> GuardSetup:
    """Build the guard with this home's settings. Tools are opened over an empty home, not the owner's."""
    environ, clock = process_environment(), SystemClock()
    known = KnownSecrets({**readable_values(config.secrets()), **values_in(environ)})
    with tempfile.TemporaryDirectory() as folder:
        empty = replace(config, home=Path(folder))
        async with (
            open_store(empty.home, config[StoreSettings], clock) as store,
            open_tool_runtime(empty, store, Hub(), clock, environ) as tool_runtime,
        ):
            return await load_guarding(config, tool_runtime, known)


def explain_call(
    guarding: GuardSetup, tool: str, text: str, supposed: HypotheticalTurn, *, as_json: bool = False
) -> None:
    """Print the decision about a call. `text` holds the arguments as JSON, or the main one as plain text."""
    spec = next((each for each in guarding.specs if each.name == tool), None)
    arguments = arguments_from(text, spec.roles if spec is not None else None)
    if spec is not None and not text and (problems := problems_of({}, spec.schema)):
        told = translatable("{tool} needs arguments: {problems}", tool=tool, problems="; ".join(problems))
        raise InvalidRequest(told)
    context = make_context(guarding, supposed)
    decided, analysis = explain(guarding.policy, guarding.reader, context, tool, arguments, spec)
    if as_json:
        print_json(decision_view(decided, analysis))
        return
    first, *rest = _lines(decided, analysis, context, tool, known=spec is not None)
    print(paint(visible(_(first)), _COLOURS[type(decided.verdict)]))
    for line in rest:
        print(visible(_(line)).rstrip())


def _lines(
    decided: PolicyDecisionTrace, analysis: ToolCallAnalysis | None, context: Context, tool: str, *, known: bool
) -> Iterable[str]:
    yield from explanation(decided, analysis)
    yield translatable(
        "judged in permission mode {mode}, autonomy {autonomy}", mode=context.mode, autonomy=context.autonomy
    )
    if analysis is not None and analysis.paths and not isinstance(decided.verdict, Deny):
        yield translatable("a path outside of what tools may see is refused by the tool itself; `hob tools test` tells")
    if not known:
        yield translatable("there is no tool {tool} here, so the strictest rules were used", tool=tool)
