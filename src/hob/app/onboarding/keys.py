"""Keeping a key by reference: in a file that only its owner reads, or in the system's keyring, never in settings."""

import os
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from hob.core.errors import NotConfigured

FILE, KEYRING, ENVIRONMENT = "file", "keyring", "env"
_SERVICE = "hob"
_DRAFT = ".new"


def draft_key(home: Path, provider: str, key: str) -> str:
    """Put a key that is to be tried beside the kept ones; its reference. Raises NotConfigured."""
    return _write(home, f"{_name(provider)}{_DRAFT}", key)


def keep_key(home: Path, provider: str, key: str, where: str) -> str:
    """Keep a key for good; its reference. What was kept for this provider is replaced. Raises NotConfigured."""
    if where == KEYRING:
        return _put_in_keyring(_name(provider), key)
    return _write(home, _name(provider), key)


def drop_drafts(home: Path) -> None:
    """Remove keys that were only tried, by this process or by one that was killed."""
    for file in (home / "secrets").glob(f"*{_DRAFT}"):
        file.unlink(missing_ok=True)


def has_keyring() -> bool:
    """Whether the package for the system's keyring is installed."""
    return find_spec("keyring") is not None


def _name(provider: str) -> str:
    return f"model-{provider}"


def _write(home: Path, name: str, key: str) -> str:
    folder = home / "secrets"
    beside = folder / f".{name}.{os.getpid()}{_DRAFT}"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(f"{key}\n")
            file.flush()
            os.fsync(file.fileno())
        beside.replace(folder / name)
    except OSError as error:
        raise NotConfigured(f"the key cannot be kept in {folder}: {error.strerror}") from error
    return f"file:secrets/{name}"


def _put_in_keyring(name: str, key: str) -> str:
    if not has_keyring():
        raise NotConfigured("the keyring needs the extra: pip install 'hob[keyring]'")
    keyring, errors = import_module("keyring"), import_module("keyring.errors")
    try:
        keyring.set_password(_SERVICE, name, key)
    except errors.KeyringError as error:
        raise NotConfigured(f"the keyring does not open ({type(error).__name__})") from None
    return f"keyring:{_SERVICE}/{name}"
