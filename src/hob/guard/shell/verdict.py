"""Judgement of a command: every rule sees every simple command that may run."""

from collections.abc import Iterator
from dataclasses import replace

from hob.core.translation.language import translatable
from hob.guard.shell.analysis import analyse
from hob.guard.shell.arguments import is_known
from hob.guard.shell.command_context import Rule, RuleInput, ShellFinding, ShellSeverity
from hob.guard.shell.commands import Analysis
from hob.guard.shell.places import PathResolver
from hob.guard.shell.rules import (
    code,
    control,
    deletion,
    devices,
    environment,
    execution,
    infrastructure,
    network,
    package_managers,
    permissions,
    secrets,
    version_control,
)

_PARTS = (
    deletion,
    devices,
    control,
    permissions,
    version_control,
    secrets,
    network,
    package_managers,
    infrastructure,
    environment,
    execution,
)
_RULES: dict[str, tuple[Rule, ...]] = {}
for _part in _PARTS:
    for _name, _rule in _part.RULES.items():
        _RULES[_name] = (*_RULES.get(_name, ()), _rule)

_DEEPEST = 2  # nesting of commands within code within commands


def judge_command(analysis: Analysis, *, cwd: str, workspace: str, home: str = "") -> tuple[ShellFinding, ...]:
    """Return the findings, worst first; none if the command only reads and builds within the workspace.

    `cwd`, `workspace` and `home` are absolute paths. An empty `home` is guessed from the others. Never raises.
    """
    found: dict[ShellFinding, None] = {}
    for problem in analysis.problems:
        found[ShellFinding(ShellSeverity.ASK, problem.rule, problem.reason, problem.text[:200])] = None
    for text in analysis.bombs:
        found[ShellFinding(ShellSeverity.REFUSE, "fork-bomb", "it starts copies of itself without end", text[:200])] = (
            None
        )
    for name in environment.find_shadowed(analysis.functions):
        found[
            ShellFinding(
                ShellSeverity.ASK, "shadowing", translatable("it gives {name} another meaning", name=name), name
            )
        ] = None
    places = PathResolver(cwd, workspace, home)
    for command in (*analysis.commands, *analysis.others):
        for finding in judge_simple(RuleInput(command, places, find_refusals)):
            found[finding] = None
    return tuple(sorted(found, key=lambda finding: -finding.severity))


def judge_simple(rule_input: RuleInput) -> Iterator[ShellFinding]:
    """Yield the findings of all rules for one command."""
    command = rule_input.command
    if command.redirections:
        yield from deletion.judge_redirections(rule_input)
        yield from network.devices(rule_input)
    if command.assignments or "=" in command.text:
        yield from environment.assignments(rule_input)
    if command.reads:
        yield from secrets.judge_variables(rule_input)
    yield from secrets.judge_paths(rule_input)
    yield from execution.executable_config(rule_input)
    if not command.argv:
        return
    for rule in _RULES.get(command.name, ()):
        yield from rule(rule_input)
    runs = command.runs
    if runs.code:
        yield from code.judge_code(rule_input)
    if runs.opaque or runs.takes_input or runs.scripts:
        yield from execution.opaque(rule_input)
    if runs.shell:
        yield from execution.hidden(rule_input)
    yield from execution.injected(rule_input)
    if command.name in ("exec", "cat", "awk", "gawk"):
        yield from network.devices(rule_input)
    yield from execution.unknown(rule_input)
    if not is_known(command.argv[0]):
        yield from _guessed(rule_input)


def _guessed(rule_input: RuleInput) -> Iterator[ShellFinding]:
    """Yield the refusals of the programs that an unknown name may turn out to be."""
    for name in execution.possible_programs(rule_input):
        command = replace(rule_input.command, name=name, argv=(name, *rule_input.args))
        for rule in _RULES.get(name, ()):
            yield from filter(execution.is_refused, rule(rule_input._replace(command=command)))


def find_refusals(text: str, rule_input: RuleInput) -> Iterator[ShellFinding]:
    """Yield the refusals of a text that a program in another language may run as a command."""
    if len(rule_input.command.via) > _DEEPEST or len(text) > 2000:
        return
    inner = analyse(text)
    for command in inner.commands:
        nested = replace(
            command,
            via=(*rule_input.command.via, *command.via, rule_input.command.name),
            directory=rule_input.command.directory,
        )
        yield from filter(execution.is_refused, judge_simple(rule_input._replace(command=nested)))
    for _ in inner.bombs:
        yield rule_input.refuse("fork-bomb", "it starts copies of itself without end")
