"""The checks of the security audit, one module per subject."""

from hob.app.diagnostics.check import Check
from hob.app.diagnostics.checks.security.channels import CHANNELS
from hob.app.diagnostics.checks.security.files import FILES
from hob.app.diagnostics.checks.security.permissions import PERMISSION
from hob.app.diagnostics.checks.security.sandbox import SANDBOX
from hob.app.diagnostics.checks.security.secrets import SECRETS

AUDIT: tuple[Check, ...] = (*FILES, *SECRETS, *PERMISSION, *SANDBOX, *CHANNELS)
