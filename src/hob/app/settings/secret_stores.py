"""Storage of secrets, which settings only refer to: files in `secrets/` and the system's keyring."""

import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

from hob.config.loading import Config
from hob.config.whole_file import write_whole
from hob.core.errors import NotConfigured
from hob.core.libraries import install_command
from hob.core.settings import Secret
from hob.core.translation.language import translatable
from hob.core.values import dataclass

FOLDER = "secrets"
_SERVICE = "hob"
_PLAIN = re.compile(r"[^A-Za-z0-9._-]")


@dataclass(frozen=True, slots=True)
class StoredSecret:
    """A secret as shown to people: its setting, its reference, and why it cannot be read, if so.

    The reference is empty if the settings hold the secret itself. `changed` is the file's time (Unix seconds).
    """

    key: str
    reference: str
    problem: str = ""
    changed: float | None = None


def list_secrets(config: Config) -> Iterator[StoredSecret]:
    """Yield every secret in the settings. Commands and keyrings are not read, since they may prompt a person."""
    for key, secret in config.secrets():
        scheme = secret.reference.partition(":")[0]
        problem = _find_problem(secret) if scheme in ("", "env", "file") else ""
        yield StoredSecret(key, secret.reference, problem, _changed_at(secret.reference))


def unused_files(config: Config) -> list[str]:
    """Return the files in `secrets/` that no setting names, except Hob's own."""
    folder = config.home / FOLDER
    named = {Path(kept.reference.removeprefix("file:")) for kept in list_secrets(config)}
    found = folder.iterdir() if folder.is_dir() else ()
    return sorted(
        file.name
        for file in found
        if file not in named and not file.name.startswith((".", "gateway")) and file.is_file()
    )


def store_in_file(home: Path, key: str, value: str) -> str:
    """Store a secret atomically in a private file. Return its reference. Raises NotConfigured."""
    folder, name = home / FOLDER, file_name(key)
    try:
        write_whole(folder / name, f"{value}\n".encode())
    except OSError as error:
        raise NotConfigured(
            translatable("the secret cannot be kept in {folder}: {reason}", folder=folder, reason=error.strerror)
        ) from error
    return f"file:{FOLDER}/{name}"


def store_in_keyring(user: str, value: str, service: str = _SERVICE) -> str:
    """Store a secret in the system's keyring. Return its reference. Raises NotConfigured."""
    try:
        keyring, errors = import_module("keyring"), import_module("keyring.errors")
    except ImportError:
        raise NotConfigured(
            translatable("the keyring needs a library: {command}", command=install_command("keyring"))
        ) from None
    try:
        keyring.set_password(service, user, value)
    except errors.KeyringError as error:
        raise NotConfigured(translatable("the keyring does not open ({name})", name=type(error).__name__)) from None
    return f"keyring:{service}/{user}"


def file_name(key: str) -> str:
    """Return the name of a key's file in `secrets/`."""
    return _PLAIN.sub("_", key)


def _find_problem(secret: Secret) -> str:
    try:
        secret.reveal()
    except NotConfigured as error:
        return str(error)
    return ""


def _changed_at(reference: str) -> float | None:
    scheme, _, path = reference.partition(":")
    try:
        return Path(path).stat().st_mtime if scheme == "file" else None
    except OSError:
        return None
