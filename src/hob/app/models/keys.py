"""A model's key, while it is tried and when it is kept: in a file for its owner alone or the keyring."""

from importlib.util import find_spec
from pathlib import Path

from hob.app.settings.secret_stores import FOLDER, file_name, put_in_file, put_in_keyring
from hob.providers.catalog.catalog import SERVER

FILE, KEYRING, ENVIRONMENT = "file", "keyring", "env"
_DRAFT = ".draft"


def draft_key(home: Path, provider: str, key: str) -> str:
    """Put a key that is to be tried beside the kept ones; its reference. Raises NotConfigured."""
    return put_in_file(home, f"{_setting(provider)}{_DRAFT}", key)


def keep_key(home: Path, provider: str, key: str, where: str) -> str:
    """Keep a key for good; its reference. What was kept for this provider is replaced. Raises NotConfigured."""
    name = _setting(provider)
    return put_in_keyring(name, key) if where == KEYRING else put_in_file(home, name, key)


def drop_drafts(home: Path) -> None:
    """Remove keys that were only tried or half written, by this process or by one that was killed."""
    for pattern in (f"*{_DRAFT}", f".{file_name('model.')}*"):
        for file in (home / FOLDER).glob(pattern):
            file.unlink(missing_ok=True)


def has_keyring() -> bool:
    """Whether the package for the system's keyring is installed."""
    return find_spec("keyring") is not None


def _setting(provider: str) -> str:
    """The setting that refers to the provider's key; `hob secrets` knows it by that name."""
    return "model.api_key" if provider == SERVER else f"model.providers.{provider}.api_key"
