"""Which findings of the security audit the owner has reviewed and accepts."""

from hob.core.settings import setting
from hob.core.values import dataclass


@dataclass(frozen=True, slots=True)
class SecuritySettings:
    """The security audit."""

    accept: list[str] = setting([], "Findings of `hob security audit` that you accept, by id, e.g. fs.running_as_root.")
