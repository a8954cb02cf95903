"""Storage of a model's key, during the test and permanently: in a private file or the keyring."""

from importlib.util import find_spec
from pathlib import Path

from hob.app.settings.secret_stores import FOLDER, file_name, store_in_file, store_in_keyring
from hob.providers.catalog.catalog import SERVER

FILE, KEYRING, ENVIRONMENT = "file", "keyring", "env"
_DRAFT = ".draft"


def draft_key(home: Path, provider: str, key: str) -> str:
    """Store a key for a test, apart from the permanent ones. Return its reference. Raises NotConfigured."""
    return store_in_file(home, f"{_key_setting(provider)}{_DRAFT}", key)


def keep_key(home: Path, provider: str, key: str, where: str) -> str:
    """Store a key permanently, replacing the provider's former one. Return its reference. Raises NotConfigured."""
    name = _key_setting(provider)
    return store_in_keyring(name, key) if where == KEYRING else store_in_file(home, name, key)


def drop_drafts(home: Path) -> None:
    """Remove keys that were only tested or half-written, including those of a killed process."""
    for pattern in (f"*{_DRAFT}", f".{file_name('model.')}*"):
        for file in (home / FOLDER).glob(pattern):
            file.unlink(missing_ok=True)


def has_keyring() -> bool:
    """Return whether the package for the system's keyring is installed."""
    return find_spec("keyring") is not None


def _key_setting(provider: str) -> str:
    """Return the setting that refers to the provider's key, as `hob secrets` names it."""
    return "model.api_key" if provider == SERVER else f"model.providers.{provider}.api_key"
