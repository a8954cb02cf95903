"""`hob onboard`: set Hob up on a new machine."""

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter

from hob.app.imports.assistants import find_here
from hob.app.imports.contents import Assistant
from hob.app.settings.sections import read_config
from hob.cli.onboarding.detection import DetectedModel, detect_models
from hob.cli.onboarding.preferences import spoken_language
from hob.cli.onboarding.prompts import TerminalPrompts, is_there
from hob.cli.onboarding.report import SetupOptions, SetupOutcome, SetupPrompts, StepStatus
from hob.cli.onboarding.steps import set_up
from hob.cli.output import line, paint, print_json, width_of_screen
from hob.config.environment import process_environment
from hob.core.errors import InvalidRequest
from hob.core.translation.language import translatable, translated
from hob.tools.web.settings import SearchName

_Search = Literal["none", SearchName, ""]
_MARKS = {
    StepStatus.DONE: ("✓", "green"),
    StepStatus.KEPT: ("✓", "dim"),
    StepStatus.SKIPPED: ("-", "dim"),
    StepStatus.FAILED: ("✗", "red"),
}
_NEEDS_TERMINAL = translatable(
    "hob onboard asks questions and needs a terminal; "
    "`hob onboard --non-interactive` asks nothing and takes what it finds"
)


def onboard(
    *,
    model: str = "",
    base_url: str = "",
    provider: str = "",
    key: Annotated[str, Parameter(allow_leading_hyphen=True)] = "",
    keep_key: Literal["file", "keyring", "env", ""] = "",
    name: str | None = None,
    language: Literal["en", "de", ""] = "",
    packages: bool | None = None,
    search: Annotated[_Search, Parameter(help="The web search provider.")] = "",
    monthly: float | None = None,
    service: bool | None = None,
    accept: Annotated[bool, Parameter(negative="")] = False,
    no_test: Annotated[bool, Parameter(negative="")] = False,
    non_interactive: Annotated[bool, Parameter(negative="")] = False,
    json: Annotated[bool, Parameter(negative="")] = False,
) -> int:
    """Set Hob up: find, test and save a model, and create the workspace. Run again, it changes only what you ask for.

    Exit status 0: all is well, 1: a step failed, 2: wrong use or wrong settings, 130: interrupted.

    Parameters
    ----------
    model:
        The model, as provider/model.
    base_url:
        Address of a server of your own that speaks OpenAI chat completions.
    provider:
        The provider of the key; its usual model is used unless --model names one.
    key:
        A reference to the key: env:NAME, file:PATH, keyring:SERVICE/USER, command:PROGRAM; or - to read it from stdin.
    keep_key:
        Where to keep a key that was found in the environment or read from stdin.
    name:
        The name Hob calls you.
    language:
        The language of Hob's own messages.
    packages:
        Whether commands may fetch packages.
    monthly:
        Dollars that may be spent per month; 0: no limit.
    service:
        Whether Hob is installed as a service.
    accept:
        Accept changed identity files as they are.
    no_test:
        Save the model without testing it.
    non_interactive:
        Ask nothing.
    json:
        Ask nothing, and print what was found and each step's outcome as JSON.
    """
    options = SetupOptions(model, base_url, provider, key, keep_key, name, language, packages, search, monthly,
                          service, accept, not no_test)  # fmt: skip
    alone = json or non_interactive
    if not alone and not is_there():
        print(_NEEDS_TERMINAL, file=sys.stderr)
        return 2
    return _run(options, None if alone else TerminalPrompts, as_json=json)


def _run(options: SetupOptions, terminal: Callable[[str], SetupPrompts] | None, *, as_json: bool) -> int:
    config = read_config()
    home, language = config.home, options.language or spoken_language(config)
    asks = None if terminal is None else terminal(language)
    show = _discard if as_json else partial(_show, language)
    found: tuple[DetectedModel, ...] = ()

    def look() -> tuple[DetectedModel, ...]:
        nonlocal found
        if not as_json:
            print(paint(translated("Looking at what is here ...", language), "dim"), flush=True)
        found = detect_models(read_config())
        if not as_json:
            _show_found(language, found)
        return found

    try:
        report = set_up(home, options, asks, look, read_key=_read_line, on_outcome=show)
    except InvalidRequest as error:
        print(error, file=sys.stderr)
        return 2
    except (EOFError, KeyboardInterrupt):
        print(
            f"\n{translated('Setup cancelled. What is done is saved; run `hob onboard` to continue.', language)}",
            file=sys.stderr,
        )
        return 130
    if as_json:
        outcomes = [outcome.as_json() for outcome in report.outcomes]
        there = [_as_json(each) for each in found]
        others = [{"assistant": each.id, "folder": str(folder)} for each, folder in _find_assistants()]
        print_json({"ok": report.ok, "home": str(home), "found": there, "steps": outcomes, "assistants": others})
    else:
        here = "{assistant} is here, too ({folder}). To take it over: hob import {name}"
        for each, folder in _find_assistants():
            other = translatable(here, assistant=each.title, folder=line(str(folder), 100), name=each.id)
            print(f"  {translated(other, language)}")
        _show_end(language, home, ok=report.ok)
    return 0 if report.ok else 1


def _find_assistants() -> list[tuple[Assistant, Path]]:
    """Return other assistants whose data Hob can import."""
    return list(find_here(process_environment(), Path.home()))


def _discard(_: SetupOutcome) -> None:
    """Discard output; JSON is printed at the end, in one piece."""


def _read_line() -> str:
    return sys.stdin.readline().strip()


def _show_found(language: str, found: tuple[DetectedModel, ...]) -> None:
    for each in found:
        room = max(20, width_of_screen() - 21)
        mark = paint("✗", "red") if each.refused else paint("✓", "green")
        print(f"  {mark} {translated(each.title, language):<16} {line(translated(each.line, language), room)}")
    if not found:
        print(f"  {translated('No key in the environment, no server that runs here, no CLI.', language)}")
    print()


def _show(language: str, outcome: SetupOutcome) -> None:
    mark, colour = _MARKS[outcome.status]
    step = translated(outcome.step, language)
    print(f"{paint(mark, colour)} {step:<10} {line(translated(outcome.told, language), 200)}", flush=True)
    if outcome.next and outcome.status is not StepStatus.KEPT:
        advice = translated(translatable("next: {step}", step=outcome.next), language)
        print(paint(f"  {'':<10} {line(advice, 200)}", "dim"), flush=True)


def _show_end(language: str, home: Path, *, ok: bool) -> None:
    well = translatable("Settings: {file}. `hob` starts the chat.", file=str(home / "config.toml"))
    print()
    print(
        translated(
            well if ok else "Some steps failed. Run `hob onboard` to continue; `hob doctor` finds more.", language
        )
    )


def _as_json(found: DetectedModel) -> dict[str, Any]:
    return {
        "provider": found.provider,
        "title": found.title,
        "how": found.how,
        "local": found.local,
        "model": found.draft.model,
        "models": list(found.models),
    }
