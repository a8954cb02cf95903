"""Checks of the browser: library and program installed."""

import os
from collections.abc import Iterator

from hob.app.diagnostics.check import Check, CheckResult, info, warn
from hob.app.diagnostics.context import DiagnosticContext
from hob.core.libraries import install_command
from hob.core.translation.language import translatable
from hob.tools.browser.detection import EXTRA, find_program, is_library_there
from hob.tools.browser.settings import BrowserSettings


def _install() -> str:
    return translatable("`{command}` installs it", command=install_command(EXTRA))


def _browser(diagnostics: DiagnosticContext) -> Iterator[CheckResult]:
    program = diagnostics.config[BrowserSettings].program
    path = diagnostics.environ.get("PATH", "")
    return browser_problems(program, path, has_library=is_library_there(), root=os.geteuid() == 0)


def browser_problems(named: str, path: str, *, has_library: bool, root: bool) -> Iterator[CheckResult]:
    """Yield what prevents this program, or the installed one if none is named, from opening pages."""
    if not has_library:
        yield info("the tool browser does not work: its library is not installed", _install())
    elif find_program(named, path):
        if root:
            yield info(
                "the tool browser does not work: with its sandbox, Chromium does not run as root",
                "run Hob as another user",
            )
    elif named:
        advice = "`hob config set browser.program PATH`, or empty for the one that is installed"
        yield warn(translatable("its program {program} is not there", program=named), advice, "browser.program")
    else:
        yield warn("the tool browser does not work: Chromium is not installed", "install the package chromium")


CHECKS = (Check("browser", "Can pages be opened in a browser?", _browser),)
