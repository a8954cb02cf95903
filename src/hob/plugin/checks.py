"""What checks of `hob doctor` are made of."""

from hob.app.diagnostics.check import Check, CheckResult, Mend, critical, info, warn
from hob.app.diagnostics.context import DiagnosticContext, NotLooked

__all__ = ["Check", "CheckResult", "DiagnosticContext", "Mend", "NotLooked", "critical", "info", "warn"]
