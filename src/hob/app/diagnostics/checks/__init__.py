"""The checks of `hob doctor`, one module per family."""

from hob.app.diagnostics.check import Check
from hob.app.diagnostics.checks.database import DATABASE
from hob.app.diagnostics.checks.files import FILES
from hob.app.diagnostics.checks.machine import MACHINE
from hob.app.diagnostics.checks.models import MODELS
from hob.app.diagnostics.checks.running import RUNNING
from hob.app.diagnostics.checks.service import SERVICE
from hob.app.diagnostics.checks.settings import SETTINGS

CHECKS: tuple[Check, ...] = (*SETTINGS, *FILES, *DATABASE, *MACHINE, *RUNNING, *SERVICE, *MODELS)
"""All checks, in the order in which they run."""
