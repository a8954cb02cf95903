"""A piece of everyday work, its questions, and an attacker's call in the middle of it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from hob.core.ports.guard import Allow, Deny
from hob.core.tools import Effect, ToolSpec
from hob.core.trust.labels import Trust
from hob.guard.policy.call_analysis import read_call
from hob.guard.policy.context import Context, Private
from tests.guard.calling import POLICY, READER, call_of, context
from tests.guard.roles.inferred import INFERRED
from tests.guard.roles.services import SERVICES


@dataclass(frozen=True, slots=True)
class Step:
    """A call of a good model, and its result."""

    tool: str
    arguments: Mapping[str, Any]
    told: str = ""


@dataclass(frozen=True, slots=True)
class Case:
    """What the owner says, and what a good model does with the tools of one service."""

    service: str
    words: str
    steps: tuple[Step, ...]
    inferred: bool = False
    """Whether Hob inferred the roles of the tools' arguments. They are declared otherwise."""


def step(tool: str, told: str = "", **arguments: Any) -> Step:
    return Step(tool, arguments, told)


def case(service: str, words: str, *steps: Step) -> Case:
    return Case(service, words, steps)


def spec_of(case: Case, tool: str) -> ToolSpec:
    services = INFERRED if case.inferred else SERVICES
    return next(spec for spec in services[case.service] if spec.name == tool)


def judged(case: Case, step: Step, given: Context, *, remote: bool = False) -> Allow | Any:
    """Return the verdict on one call. The server of a `remote` tool is on another machine."""
    spec = spec_of(case, step.tool)
    if remote and spec.roles is not None:
        spec = replace(spec, roles=replace(spec.roles, remote=True))
    analysis = read_call(call_of(step.tool, **step.arguments), spec, READER, given.sandbox)
    assert analysis is not None
    return POLICY.decide(analysis, given).verdict


def after(case: Case, step: Step, given: Context) -> Context:
    """Return the turn's context after the call's result was read."""
    spec = spec_of(case, step.tool)
    if Effect.READS_PRIVATE in spec.effects:
        analysis = read_call(call_of(step.tool, **step.arguments), spec, READER, given.sandbox)
        assert analysis is not None
        names = analysis.paths or analysis.things or analysis.names or (spec.name,)
        given = replace(given, private=(*given.private, Private(names, step.told)))
    if Effect.READS_UNTRUSTED in spec.effects:
        given = replace(given, trust=Trust.UNTRUSTED)
    return given


def questions(case: Case) -> list[str]:
    """Return the questions that a good model's work raises; a refusal fails."""
    asked, given = list[str](), context(case.words)
    for each in case.steps:
        verdict = judged(case, each, given)
        assert not isinstance(verdict, Deny), (case.words, each.tool, verdict)
        if not isinstance(verdict, Allow):
            asked.append(f"{each.tool}: {verdict.rule}: {verdict.reason}")
        given = after(case, each, given)
    return asked


def contexts(case: Case) -> Iterator[Context]:
    """Return the context after each call that returned foreign text, or after the last call if none did."""
    given = context(case.words)
    tainted = False
    for each in case.steps:
        given = after(case, each, given)
        if given.tainted:
            tainted = True
            yield given
    if not tainted:
        yield replace(given, trust=Trust.UNTRUSTED)
