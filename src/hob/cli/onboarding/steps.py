"""The steps in order. Each leaves a working home, so that a cancelled setup can continue later."""

from collections.abc import Callable, Sequence
from pathlib import Path

from hob.app.home import make_home
from hob.app.models.keys import drop_drafts
from hob.cli.onboarding.detection import DetectedModel
from hob.cli.onboarding.model import ask_for_model, settle_model
from hob.cli.onboarding.preferences import (
    settle_budget,
    settle_commands,
    settle_language,
    settle_packages,
    settle_service,
)
from hob.cli.onboarding.report import SetupOptions, SetupOutcome, SetupPrompts, SetupReport, StepStatus
from hob.cli.onboarding.web_search import settle_search
from hob.cli.onboarding.workspace import settle_folders, settle_identity, settle_name


def set_up(
    home: Path,
    options: SetupOptions,
    prompts: SetupPrompts | None,
    find_models: Callable[[], Sequence[DetectedModel]],
    *,
    read_key: Callable[[], str],
    on_outcome: Callable[[SetupOutcome], None],
) -> SetupReport:
    """Run all steps; without `prompts`, only change what the options name or what is missing.

    Raises NotConfigured for an unusable home, InvalidRequest for invalid options, and what `prompts` raises when the
    person leaves.
    """
    make_home(home)
    drop_drafts(home)
    report = SetupReport()

    def ended(outcome: SetupOutcome) -> SetupOutcome:
        report.outcomes.append(outcome)
        on_outcome(outcome)
        return outcome

    if prompts is None or options.names_model:
        model = settle_model(home, options, find_models(), read_key)
    else:
        model = ask_for_model(home, options, find_models, prompts)
    ended(model)
    ended(settle_folders(home))
    if report.outcomes[-1].status is not StepStatus.FAILED:
        ended(settle_name(home, options, prompts))
        ended(settle_identity(home, options, prompts))
    ended(settle_language(home, options, prompts))
    ended(settle_commands())
    ended(settle_packages(home, options, prompts))
    ended(settle_search(home, options, prompts))
    ended(settle_budget(home, options, prompts))
    ended(settle_service(options, prompts))
    return report
