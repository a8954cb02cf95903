"""What checks of `hob doctor` are made of."""

from hob.app.diagnostics.check import CheckResult, DoctorCheck, Mend, critical, info, warn
from hob.app.diagnostics.context import DiagnosticContext, NotLooked

__all__ = ["CheckResult", "DiagnosticContext", "DoctorCheck", "Mend", "NotLooked", "critical", "info", "warn"]
