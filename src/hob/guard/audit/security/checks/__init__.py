"""The checks, a module for each family."""

from hob.guard.audit.security.check import SecurityCheck
from hob.guard.audit.security.checks.channels import CHANNELS
from hob.guard.audit.security.checks.files import FILES
from hob.guard.audit.security.checks.permission import PERMISSION
from hob.guard.audit.security.checks.sandbox import SANDBOX
from hob.guard.audit.security.checks.secrets import SECRETS

CHECKS: tuple[SecurityCheck, ...] = (*FILES, *SECRETS, *PERMISSION, *SANDBOX, *CHANNELS)
"""All of them, in the order in which they are told."""
