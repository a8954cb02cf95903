"""The browser, and the command by which its owner takes it over."""

from collections.abc import Awaitable, Callable

from hob.agent.commands.table import CommandTiming, SlashCommand
from hob.app.browser.port import BrowserControl
from hob.app.subsystem import Checks, FeatureCommand, KeptFiles, Open, Subsystem
from hob.core.lazy import Lazy
from hob.core.trust.scopes import TokenScope
from hob.tools.browser.settings import BrowserSettings
from hob.tools.browser.specs import BROWSING

Run = Callable[..., Awaitable[str]]


@Lazy
def _open() -> Open:
    from hob.app.browser.opening import open_browser

    return open_browser


@Lazy
def _checks() -> Checks:
    from hob.app.diagnostics.checks.browser import CHECKS

    return CHECKS


@Lazy
def _command() -> Run:
    from hob.app.browser.command import command

    return command


BROWSER = Subsystem(
    name="browser",
    settings={"browser": BrowserSettings},
    one_shot=True,
    tools=(BROWSING,),
    checks=_checks,
    files=(KeptFiles("browser", "your own profile of the browser, with its logins; those of open conversations"),),
    open=_open,
)
BROWSER_COMMAND = Subsystem(
    name="browser_command",
    needs=(BrowserControl,),
    one_shot=True,
    slash_commands=(
        FeatureCommand(
            SlashCommand(
                "browser",
                CommandTiming.ARRIVAL,
                "/browser [take|back|close]",
                "act in Hob's browser yourself",
                owner=True,
                scope=TokenScope.ADMIN,
            ),
            _command,
        ),
    ),
)
