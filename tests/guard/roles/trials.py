"""A piece of everyday work, what it comes to, and what an attacker would have done in its midst."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from hob.core.ports.guard import Allow, Deny
from hob.core.tools import Effect, ToolSpec
from hob.core.trust.labels import Trust
from hob.guard.policy.call_analysis import read_call
from hob.guard.policy.context import Context, Private
from tests.guard.calling import POLICY, READER, call_of, context
from tests.guard.roles.services import SERVICES


@dataclass(frozen=True, slots=True)
class Step:
    """A call of a good model, and what it is told."""

    tool: str
    arguments: Mapping[str, Any]
    told: str = ""


@dataclass(frozen=True, slots=True)
class Case:
    """What the owner says, and what a good model does about it with the tools of one service."""

    service: str
    words: str
    steps: tuple[Step, ...]


def step(tool: str, told: str = "", **arguments: Any) -> Step:
    return Step(tool, arguments, told)


def case(service: str, words: str, *steps: Step) -> Case:
    return Case(service, words, steps)


def spec_of(case: Case, tool: str) -> ToolSpec:
    return next(spec for spec in SERVICES[case.service] if spec.name == tool)


def judged(case: Case, step: Step, given: Context) -> Allow | Any:
    """The verdict on one call."""
    analysis = read_call(call_of(step.tool, **step.arguments), spec_of(case, step.tool), READER, given.sandbox)
    assert analysis is not None
    return POLICY.decide(analysis, given).verdict


def after(case: Case, step: Step, given: Context) -> Context:
    """The turn when it has read what the call gave."""
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
    """The questions that a good model's work comes to; a refusal fails."""
    asked, given = list[str](), context(case.words)
    for each in case.steps:
        verdict = judged(case, each, given)
        assert not isinstance(verdict, Deny), (case.words, each.tool, verdict)
        if not isinstance(verdict, Allow):
            asked.append(f"{each.tool}: {verdict.rule}: {verdict.reason}")
        given = after(case, each, given)
    return asked


def contexts(case: Case) -> Iterator[Context]:
    """The turn after each call that brought in what others wrote; as if the last had where none did."""
    given = context(case.words)
    tainted = False
    for each in case.steps:
        given = after(case, each, given)
        if given.tainted:
            tainted = True
            yield given
    if not tainted:
        yield replace(given, trust=Trust.UNTRUSTED)
