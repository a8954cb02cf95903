"""Steps that set one value each (language, network for commands, budget), and the service."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

from hob.agent.budget.limits import SpendingSettings
from hob.agent.settings import AgentSettings
from hob.app.daemon.command_check import find_command_backend
from hob.app.settings.sections import SECTIONS, choose_models, read_config
from hob.app.trust.audit import audit_action
from hob.cli.onboarding.report import SetupOptions, SetupOutcome, SetupPrompts, StepStatus, confirm
from hob.cli.translating import terminal_language
from hob.config.editing import set_values
from hob.config.environment import process_environment
from hob.config.loading import Config
from hob.core.errors import ModelError, NotConfigured
from hob.core.translation.language import translatable
from hob.tools.sandbox.settings import SandboxSettings

_PACKAGES = "group:packages"
_SERVICE_SECONDS = 60.0
LANGUAGES = (("en", "English"), ("de", "Deutsch"))


def spoken_language(config: Config) -> str:
    """Return the configured language, else the terminal's."""
    if str(config.origin("agent.language").layer) != "default":
        return config[AgentSettings].language
    return terminal_language()


def settle_language(home: Path, options: SetupOptions, prompts: SetupPrompts | None) -> SetupOutcome:
    """Set the language of Hob's own messages; models answer in the language of the message."""
    config = read_config()
    now = config[AgentSettings].language
    wanted = options.language
    if not wanted and prompts is not None:
        question = "Which language should Hob use for its own messages? (It answers in the language you write.)"
        wanted = prompts.choose(question, LANGUAGES, spoken_language(config))
    if not wanted or wanted == now:
        return SetupOutcome("language", StepStatus.KEPT, dict(LANGUAGES).get(now, now))
    return _set(home, "language", "agent.language", wanted, dict(LANGUAGES).get(wanted, wanted))


def settle_commands() -> SetupOutcome:
    """Report whether commands can run here at all; Hob cannot install what is missing."""
    try:
        backend, _protects = find_command_backend(read_config(), process_environment())
    except NotConfigured as error:
        return SetupOutcome("commands", StepStatus.SKIPPED, "no command can run yet", str(error))
    return SetupOutcome("commands", StepStatus.KEPT, translatable("confined by {backend}", backend=backend))


def settle_packages(home: Path, options: SetupOptions, prompts: SetupPrompts | None) -> SetupOutcome:
    """Set whether sandboxed commands may fetch packages."""
    hosts = read_config()[SandboxSettings].hosts
    now, wanted = _PACKAGES in hosts, options.packages
    if wanted is None and prompts is not None:
        question = "Commands have no network. May they fetch packages (PyPI, npm, ...)?"
        wanted = confirm(prompts, question, default=now)
    if wanted is None or wanted == now:
        told = (
            translatable("commands may reach {hosts}", hosts=", ".join(hosts)) if hosts else "commands have no network"
        )
        return SetupOutcome("network", StepStatus.KEPT, told)
    rest = [host for host in hosts if host != _PACKAGES]
    told = "commands may fetch packages, and reach nothing else new" if wanted else "commands may not fetch packages"
    return _set(home, "network", "sandbox.hosts", json.dumps([*rest, _PACKAGES] if wanted else rest), told)


def settle_budget(home: Path, options: SetupOptions, prompts: SetupPrompts | None) -> SetupOutcome:
    """Set a monthly limit in dollars; 0 removes it."""
    now, wanted = read_config()[SpendingSettings].monthly, options.monthly
    if wanted is None and prompts is not None:
        wanted = _ask_dollars(prompts, now)
    told = "no limit" if now is None else _a_month(now)
    if wanted is None or wanted == now or (now is None and not wanted):
        return SetupOutcome("budget", StepStatus.KEPT, told)
    if not 0 <= wanted < float("inf"):
        return SetupOutcome(
            "budget",
            StepStatus.FAILED,
            translatable("{amount} is not a limit", amount=str(wanted)),
            "hob onboard --monthly DOLLARS",
        )
    if wanted == 0:
        return _set(home, "budget", "spending.monthly", None, "no limit")
    return _set(home, "budget", "spending.monthly", repr(wanted), _a_month(wanted))


def _a_month(dollars: float) -> str:
    return translatable("${dollars} a month", dollars=f"{dollars:g}")


def settle_service(options: SetupOptions, prompts: SetupPrompts | None) -> SetupOutcome:
    """Install the service if wanted."""
    wanted = options.service
    if not wanted and not _has_manager():
        return SetupOutcome("service", StepStatus.SKIPPED, "nothing here starts services", "hob serve")
    if wanted is None and prompts is not None:
        wanted = confirm(
            prompts, "Should Hob run in the background, now and after each restart of this machine?", default=False
        )
    if not wanted:
        return SetupOutcome("service", StepStatus.SKIPPED, "not asked for", "hob service install")
    command = [sys.executable, "-m", "hob", "service", "install"]
    if prompts is not None and _key_is_outside():
        question = "The service does not see this terminal's variables. Write the key into its file (0600)?"
        command += ["--with-keys"] if confirm(prompts, question, default=True) else []
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_SERVICE_SECONDS, check=False)
    except (OSError, subprocess.SubprocessError) as error:
        return SetupOutcome("service", StepStatus.FAILED, str(error), "hob service install")
    said = " ".join((done.stdout if not done.returncode else done.stderr or done.stdout).split())
    return SetupOutcome(
        "service", StepStatus.FAILED if done.returncode else StepStatus.DONE, said, "hob service status"
    )


def _has_manager() -> bool:
    path = process_environment().get("PATH", "")
    return any(shutil.which(name, path=path) for name in ("systemctl", "launchctl"))


def _key_is_outside() -> bool:
    """Return whether the usual model's key exists only in this terminal's environment."""
    choice = choose_models(read_config())
    try:
        ref = choice.default()
        key = choice.connect(ref.provider).keys[0] if ref is not None else None
    except ModelError:
        return False
    return key is not None and not key.reference and key.reveal() in process_environment().values()


def _ask_dollars(prompts: SetupPrompts, now: float | None) -> float | None:
    while True:
        usual = "" if now is None else f"{now:g}"
        answer = prompts.read(
            "Dollars that Hob may spend a month (Enter for no limit)"
            if not usual
            else "Dollars a month (0 for no limit)",
            usual,
        ).lstrip("$")
        if not answer:
            return None
        try:
            dollars = float(answer)
        except ValueError:
            dollars = -1.0
        if 0 <= dollars < float("inf"):
            return dollars
        prompts.show("✗ not a number of dollars; write one such as 20", "red")


def _set(home: Path, step: str, key: str, text: str | None, told: str) -> SetupOutcome:
    config = read_config()
    try:
        set_values(config.path, {key: text}, sections=SECTIONS, environ=process_environment())
    except NotConfigured as error:
        return SetupOutcome(step, StepStatus.FAILED, str(error), f"hob config set {key} VALUE")
    audit_action(home, "config.set", key)
    return SetupOutcome(step, StepStatus.DONE, told)
