"""Types for checks of `hob doctor`."""

from hob.app.diagnostics.check import Check, CheckResult, Fix, critical, info, warn
from hob.app.diagnostics.context import CheckSkipped, DiagnosticContext

__all__ = ["Check", "CheckResult", "CheckSkipped", "DiagnosticContext", "Fix", "critical", "info", "warn"]
