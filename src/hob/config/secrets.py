"""Secrets: literal values, or references that are resolved when the secret is first needed.

References: `env:NAME`, `file:PATH`, `keyring:SERVICE/USER`, `command:PROGRAM ARGUMENTS…`. Anything else is the secret
itself. No message ever contains a secret, nor a command's arguments, which may contain one.
"""

import os
from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

from hob.config.environment import expand_path
from hob.config.substitution import GivenText, is_name
from hob.core.errors import NotConfigured, NotReady
from hob.core.libraries import install_command
from hob.core.settings import Secret
from hob.core.translation.language import translatable

COMMAND_SECONDS = 10.0
MAX_BYTES = 65_536


class SecretSources(NamedTuple):
    """Sources of referenced secrets: the environment, and the folder that relative paths start from."""

    environ: Mapping[str, str]
    base: Path


def make_secret(text: str, key: str, sources: SecretSources) -> Secret:
    """Make the secret that the text is or refers to; nothing is read yet. Raises ValueError for a malformed reference.

    Only the text as written decides whether it is a reference, never the content of a substituted variable.
    """
    if not text.strip():
        raise ValueError(translatable("the secret is empty"))
    scheme = scheme_of(text)
    if not scheme:
        return Secret.of(str(text))
    read, shown = _SCHEMES[scheme](text.split(":", 1)[1].strip(), sources)
    return Secret(partial(_read_for, key, read), shown)


def scheme_of(text: str) -> str:
    """Return the kind of reference, or an empty string for a literal secret."""
    written = text.shown if isinstance(text, GivenText) else text
    scheme, colon, _ = written.partition(":")
    return scheme if colon and scheme in _SCHEMES else ""


Read = Callable[[], str]


def _read_for(key: str, read: Read) -> str:
    try:
        value = read()
    except NotConfigured as error:
        raise type(error)(f"{key}: {error}") from None
    if not value:
        raise NotConfigured(translatable("{key}: the reference leads to an empty secret", key=key))
    return value


def _of_variable(name: str, sources: SecretSources) -> tuple[Read, str]:
    if not is_name(name):
        raise ValueError(translatable("write the name of a variable after `env:`"))

    def read() -> str:
        if name not in sources.environ:
            raise NotConfigured(translatable("the variable {name} is not set", name=name))
        return sources.environ[name].strip()

    return read, f"env:{name}"


def _of_file(name: str, sources: SecretSources) -> tuple[Read, str]:
    path = expand_path(name, sources.environ, sources.base)

    def read() -> str:
        try:
            with path.open("rb") as file:
                return _decode(file.read(MAX_BYTES + 1), f"the file {path}")
        except OSError as error:
            raise NotReady(
                translatable("the file {path} cannot be read: {reason}", path=path, reason=error.strerror)
            ) from None

    return read, f"file:{path}"


def _of_keyring(name: str, sources: SecretSources) -> tuple[Read, str]:
    service, _, user = name.rpartition("/")
    if not service or not user:
        raise ValueError(translatable("write `keyring:SERVICE/USER`"))

    def read() -> str:
        try:
            keyring = import_module("keyring")
            errors = import_module("keyring.errors")
        except ImportError:
            raise NotConfigured(
                translatable("keyring references need a library: {command}", command=install_command("keyring"))
            ) from None
        try:
            value = keyring.get_password(service, user)
        except errors.KeyringError as error:
            raise NotReady(translatable("the keyring does not open ({name})", name=type(error).__name__)) from None
        if value is None:
            raise NotConfigured(
                translatable("the keyring has nothing for {service}/{user}", service=service, user=user)
            )
        return str(value)

    return read, f"keyring:{name}"


def _of_command(line: str, sources: SecretSources) -> tuple[Read, str]:
    import shlex  # with subprocess 15 ms, needed only for commands

    try:
        words = shlex.split(line)
    except ValueError as error:
        raise ValueError(translatable("the command's quotes do not match")) from error
    if not words:
        raise ValueError(translatable("write a program after `command:`"))
    return partial(_run, words, sources), f"command:{words[0]}" + (" …" if len(words) > 1 else "")


def _run(words: list[str], sources: SecretSources) -> str:
    """Return the first line the program prints (password stores print notes after it). No shell; in its own session."""
    import subprocess

    name = words[0]
    try:
        child = subprocess.Popen(
            words,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=dict(sources.environ),
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it holds a NUL byte"
        raise NotConfigured(
            translatable("the command {name} cannot be started: {reason}", name=name, reason=reason)
        ) from None
    with child:
        try:
            output, _ = child.communicate(timeout=COMMAND_SECONDS)
        except subprocess.TimeoutExpired:
            raise NotReady(
                translatable(
                    "the command {name} gave no secret within {seconds:g} s",
                    name=name,
                    seconds=COMMAND_SECONDS,
                )
            ) from None
        finally:
            _end_group(child.pid)
    if child.returncode:
        raise NotReady(
            translatable("the command {name} failed with exit status {status}", name=name, status=child.returncode)
        )
    lines = _decode(output, f"the output of {name}").splitlines()
    return lines[0].strip() if lines else ""


def _end_group(pid: int) -> None:
    """Kill everything the command left behind, so that nothing outlives it."""
    import signal

    try:
        os.killpg(pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):  # macOS raises this for a group that has ended but is not yet reaped
        return


def _decode(data: bytes, what: str) -> str:
    if len(data) > MAX_BYTES:
        raise NotConfigured(
            translatable("{what} is larger than {maximum} bytes; that is not a secret", what=what, maximum=MAX_BYTES)
        )
    try:
        return data.decode().strip()
    except UnicodeDecodeError:
        raise NotConfigured(translatable("{what} is not UTF-8 text", what=what)) from None


_SCHEMES: Mapping[str, Callable[[str, SecretSources], tuple[Read, str]]] = {
    "env": _of_variable,
    "file": _of_file,
    "keyring": _of_keyring,
    "command": _of_command,
}
