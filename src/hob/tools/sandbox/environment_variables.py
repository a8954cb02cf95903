"""Environment variables of commands, built from an allow list rather than by removing names."""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from hob.core.errors import NotConfigured, ToolFailed
from hob.core.translation.language import translatable

SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
USER = "hob"

_KEPT = re.compile(r"LANG|LANGUAGE|LC_[A-Z]+|TERM|COLORTERM|TZ|NO_COLOR|FORCE_COLOR|COLUMNS|LINES")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
# Access to agents, buses and keys, or control over the programs that set up the sandbox (loaders).
_NEVER = re.compile(
    r"""(LD|DYLD|HOB|SSH|DBUS|GPG|XDG|SUDO|DOCKER|PODMAN|CONTAINER|KRB5|VAULT|KUBE|AWS|AZURE|GOOGLE_APPLICATION)_\w*
        |KRB5CCNAME|KUBECONFIG
        |\w*(_API_?KEYS?|_SOCK|_SOCKET|_AUTH_TOKEN|_ACCESS_TOKEN|_SECRET|_PASSWORD|_PASSWD)
        |PATH|HOME|USER|LOGNAME|SHELL|DISPLAY|WAYLAND_\w+|XAUTHORITY|ICEAUTHORITY|BASH_ENV|BASH_FUNC\w*|ENV|SHELLOPTS
        |GCONV_PATH|NLSPATH|LOCPATH|GLIBC_TUNABLES|MALLOC_\w+|TMPDIR|(HTTPS?|ALL|NO)_PROXY|(https?|all|no)_proxy""",
    re.VERBOSE | re.ASCII,
)


def refused_name(name: str) -> str:
    """Return why commands cannot get a variable of this name, or "" if they can."""
    if not _NAME.fullmatch(name):
        return f"{name!r} is no name of a variable"
    if _NEVER.fullmatch(name):
        return f"{name} is never passed to commands"
    return ""


def shared_environ(outer: Mapping[str, str], names: Iterable[str]) -> dict[str, str]:
    """Return the owner's variables that commands see: language, terminal, time zone, and those named in the settings.

    Raises NotConfigured for names that give access: keys, agents, buses and loaders.
    """
    kept = {name: value for name, value in outer.items() if _KEPT.fullmatch(name)}
    for name in names:
        if problem := refused_name(name):
            raise NotConfigured(translatable("{problem}; take it out of sandbox.environment.", problem=problem))
        if name in outer:
            kept[name] = outer[name]
    return kept


def search_path(toolchains: Iterable[Path]) -> tuple[str, ...]:
    """Return the folders searched for programs, in order. Earlier commands cannot write to any of them."""
    return (*map(str, toolchains), *SYSTEM_PATH.split(":"))


def job_environ(shared: Mapping[str, str], own: Mapping[str, str], home: Path, path: Iterable[Path]) -> dict[str, str]:
    """Return the complete environment of a command. Raises ToolFailed for variables that it must not set itself."""
    for name, value in own.items():
        if problem := refused_name(name):
            raise ToolFailed(f"{problem}; set it inside the command instead.")
        if "\0" in value:
            raise ToolFailed(f"The value of {name} has a NUL character in it.")
    places = ":".join([*search_path(path), f"{home}/.local/bin"])
    fixed = {"PATH": places, "HOME": str(home), "USER": USER, "LOGNAME": USER, "SHELL": "/bin/sh", "TMPDIR": "/tmp"}  # noqa: S108 - its own /tmp
    return {"LANG": "C.UTF-8", "TERM": "dumb", **shared, **own, **fixed}


def proxy_environ(port: int) -> dict[str, str]:
    """Return the variables that make programs use the proxy, which also resolves names."""
    url = f"http://127.0.0.1:{port}"
    local = "localhost,127.0.0.1,::1"
    names = {"HTTP_PROXY": url, "HTTPS_PROXY": url, "ALL_PROXY": url, "NO_PROXY": local}
    return names | {name.lower(): value for name, value in names.items()}
