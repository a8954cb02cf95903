"""Hard rules: refusals that no setting, mode or approval can lift.

They protect Hob's own state, secrets, and the settings of the guard and the sandbox, and refuse commands that destroy
disks or devices, exhaust the machine or control the system (found by the shell analysis).
"""

import re
from collections.abc import Iterable

from hob.core.ports.guard import Deny, Verdict
from hob.guard.policy.addresses import path
from hob.guard.policy.call_analysis import ToolCallAnalysis, texts_in
from hob.guard.policy.context import Context
from hob.guard.policy.places import Places
from hob.guard.settings import PolicySettings
from hob.guard.shell.command_context import ShellSeverity

PROTECTED_SETTINGS = (
    *("sandbox", "policy", "approvals", "guard", "admission", "scanner", "masking", "audit", "security"),
    *("gateway", "store", "channels"),
)
"""Settings that only the owner may change, by hand, including everything below them."""

_SPEAKS_TO_HOB = re.compile(r"\bhob\.sock\b|-m[ \t]*['\"]?hob\b(?!-)|\b(?:from|import)[ \t]+hob\b|\bhob_home\b")
"""Ways to reach Hob's own interfaces other than the program `hob`, which the shell analysis finds."""

_KEY = re.compile(r"[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*", re.ASCII)


class HardRules:
    """The first stage."""

    def __init__(self, places: Places) -> None:
        self._places = places
        own = {places.state, places.state.replace(places.home, "~", 1), places.state.replace(places.home, "$HOME", 1)}
        self._spellings = tuple(each.casefold() for each in own if len(each) > 3)

    def __call__(self, analysis: ToolCallAnalysis, context: Context, policy: PolicySettings) -> Verdict | None:
        """Return a refusal or None."""
        if analysis.secret:
            return Deny("hard.secrets", "the arguments hold a secret of yours, and secrets are given to no tool")
        for where in self._touched(analysis):
            if self._places.is_state(where):
                return Deny("hard.state", f"{where} belongs to Hob's own state, which no tool may touch")
            if self._places.is_closed(where):
                return Deny("hard.secrets", f"{where} is a place of secrets or of the system, closed to tools")
        for key in analysis.keys:
            if is_protected(key):
                return Deny("hard.sandbox", f"{key} is a setting of the guard itself; you change it by hand only")
        for finding in analysis.findings:
            if finding.severity is ShellSeverity.REFUSE:
                return Deny(f"hard.shell.{finding.rule}", finding.reason)
        text = "\n".join(analysis.commands).casefold()
        if any(each in text for each in self._spellings):
            return Deny("hard.state", "the command names Hob's own state directory, which no tool may touch")
        if (found := _SPEAKS_TO_HOB.search(text)) is not None:
            return Deny("hard.state", f"the command holds {found[0]!r}: what Hob is told is the owner's own word")
        return None

    def _touched(self, analysis: ToolCallAnalysis) -> Iterable[str]:
        yield from analysis.paths
        yield from analysis.sources
        if analysis.directory:
            yield analysis.directory
        if analysis.reading is None:
            # a tool without roles: anything that looks like a path may be one
            for each in texts_in(analysis.arguments):
                if each.startswith(("/", "~", "file:", "..")) and len(each) < 1024 and "\n" not in each:
                    yield path(each, base=self._places.base, home=self._places.home)


def is_protected(key: str) -> bool:
    """Return whether a setting, given by its dotted name, belongs to the guard. Irregular names count as protected."""
    if _KEY.fullmatch(key) is None:
        return True
    plain = key.casefold().replace("-", "_")
    return any(
        plain == each or plain.startswith(each + ".") or each.startswith(plain + ".") for each in PROTECTED_SETTINGS
    )
