"""The check of `hob doctor`."""

import time
from collections.abc import Iterator

from hob.plugin.checks import Check, CheckResult, DiagnosticContext, info


def _clock_zone(_: DiagnosticContext) -> Iterator[CheckResult]:
    if time.tzname[0] == "UTC":
        yield info("the sundial shows the hour of Greenwich", "set the time zone of this machine", "TZ")


CHECKS = (Check("zone", "Does the sundial know where it stands?", _clock_zone),)
