"""Masking of secrets in the chat's history."""

from collections.abc import Callable

from hob.config.environment import process_environment
from hob.config.loading import Config
from hob.core.screening.detectors import find_sensitive
from hob.core.screening.kinds import SECRETS
from hob.guard.screening.masking.known_secrets import KnownSecrets, readable_values, values_in
from hob.guard.screening.masking.mask import MASKED


def secret_masker(config: Config | None) -> Callable[[str], str]:
    """Return a function that masks configured secrets and anything that looks like one."""
    known = KnownSecrets({**(readable_values(config.secrets()) if config else {}), **values_in(process_environment())})

    def mask(text: str) -> str:
        text = known(text)
        for found in reversed(find_sensitive(text, SECRETS)):
            text = text[: found.start] + MASKED + text[found.end :]
        return text

    return mask
