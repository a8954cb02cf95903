"""The steps in their order. Each leaves a home that works, so that a cancelled setup can go on later."""

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
from hob.cli.onboarding.report import Asks, SetupOptions, SetupOutcome, SetupReport, StepStatus
from hob.cli.onboarding.web_search import settle_search
from hob.cli.onboarding.workspace import settle_folders, settle_identity, settle_name


def set_up(
    home: Path,
    options: SetupOptions,
    asks: Asks | None,
    look: Callable[[], Sequence[DetectedModel]],
    *,
    read_key: Callable[[], str],
    tell: Callable[[SetupOutcome], None],
) -> SetupReport:
    """Go through all steps; without `asks` only what is wished for, and what is missing, changes. `look` finds models.

    Raises NotConfigured for a home that cannot be used, InvalidRequest for options that make no sense, and what `asks`
    raises where the person leaves.
    """
    make_home(home)
    drop_drafts(home)
    report = SetupReport()

    def ended(outcome: SetupOutcome) -> SetupOutcome:
        report.outcomes.append(outcome)
        tell(outcome)
        return outcome

    if asks is None or options.names_model:
        model = settle_model(home, options, look(), read_key)
    else:
        model = ask_for_model(home, options, look, asks)
    ended(model)
    ended(settle_folders(home))
    if report.outcomes[-1].status is not StepStatus.FAILED:
        ended(settle_name(home, options, asks))
        ended(settle_identity(home, options, asks))
    ended(settle_language(home, options, asks))
    ended(settle_commands())
    ended(settle_packages(home, options, asks))
    ended(settle_search(home, options, asks))
    ended(settle_budget(home, options, asks))
    ended(settle_service(options, asks))
    return report
