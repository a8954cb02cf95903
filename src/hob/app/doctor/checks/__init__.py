"""The checks, a module for each family."""

from hob.app.doctor.check import Check
from hob.app.doctor.checks.database import DATABASE
from hob.app.doctor.checks.files import FILES
from hob.app.doctor.checks.machine import MACHINE
from hob.app.doctor.checks.models import MODELS
from hob.app.doctor.checks.running import RUNNING
from hob.app.doctor.checks.service import SERVICE
from hob.app.doctor.checks.settings import SETTINGS

CHECKS: tuple[Check, ...] = (*SETTINGS, *FILES, *DATABASE, *MACHINE, *RUNNING, *SERVICE, *MODELS)
"""All of them, in the order in which they are asked."""
