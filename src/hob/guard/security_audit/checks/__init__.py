"""The checks, a module for each family."""

from hob.guard.security_audit.check import Check
from hob.guard.security_audit.checks.channels import CHANNELS
from hob.guard.security_audit.checks.files import FILES
from hob.guard.security_audit.checks.permission import PERMISSION
from hob.guard.security_audit.checks.sandbox import SANDBOX
from hob.guard.security_audit.checks.secrets import SECRETS

CHECKS: tuple[Check, ...] = (*FILES, *SECRETS, *PERMISSION, *SANDBOX, *CHANNELS)
"""All of them, in the order in which they are told."""
