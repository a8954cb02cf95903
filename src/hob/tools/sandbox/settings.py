"""Settings of commands: what they may see and use."""

from pathlib import Path

from hob.core.errors import NotConfigured
from hob.core.settings import Secret, setting
from hob.core.values import dataclass

BACKENDS = ("auto", "bubblewrap", "landlock", "docker", "podman", "sandbox-exec", "plain")


def host_problem(rule: str, *, addresses: bool = False) -> str:
    """Return the problem with a host rule, or ""."""
    from hob.tools.sandbox.network.hosts import HostRules

    try:
        HostRules([rule], addresses=addresses)
    except NotConfigured as error:
        return str(error)
    return ""


def host_or_address_problem(rule: str) -> str:
    """Return the problem with a rule for hosts or addresses, or ""."""
    return host_problem(rule, addresses=True)


def _toolchain_problem(name: str) -> str:
    from hob.tools.sandbox.toolchains import find_toolchains

    try:
        find_toolchains([name], Path.home())
    except NotConfigured as error:
        return str(error)
    return ""


def _variable_problem(name: str) -> str:
    from hob.tools.sandbox.environment_variables import refused_name

    return refused_name(name)


def _header_problem(name: str) -> str:
    return "" if name and all(char.isalnum() or char in "-_" for char in name) else f"{name!r} is no name of a header"


def _plain_host_problem(name: str) -> str:
    from hob.tools.sandbox.network.hosts import host_name

    if name.casefold().rstrip(".").rpartition(".")[2] == "localhost":
        return f"{name!r} is this machine; credentials are written only into requests to other hosts"
    return "" if not name or host_name(name) else f"{name!r} is not the name of one host"


def _any_variable_problem(name: str) -> str:
    return "" if not name or (name.isidentifier() and name.isascii()) else f"{name!r} is no name of a variable"


@dataclass(frozen=True, slots=True)
class CredentialSettings:
    """A secret that commands use without holding it: the proxy writes it into their requests to one host."""

    host: str = setting("", "The host, by its full name; sandbox.hosts must allow it.", problem=_plain_host_problem)
    value: Secret | None = setting(None, "The secret: a reference such as env:GITHUB_TOKEN.")
    header: str = setting("Authorization", "The header it may be sent in.", problem=_header_problem)
    variable: str = setting(
        "",
        "The variable in which commands find a placeholder for it; not set: NAME_TOKEN.",
        problem=_any_variable_problem,
    )
    agents: list[str] = setting(["main"], "Who may use it: main, subagents, or mcp.NAME for an MCP server.")
    per_minute: int = setting(60, "Maximum requests per minute with it.", at_least=1)


@dataclass(frozen=True, slots=True)
class SandboxSettings:
    """Where commands run, what they see of the machine, and how much of it they may use."""

    backend: str = setting(
        "auto",
        "What confines commands; auto: the strongest that works on this machine; plain: nothing, so Hob asks "
        "before every command.",
        one_of=BACKENDS,
    )
    hosts: list[str] = setting(
        [], "Hosts that commands may reach: names, *.names, or groups such as group:packages.", problem=host_problem
    )
    credentials: dict[str, CredentialSettings] = setting(
        {}, "Secrets that commands can use at one host without seeing them, by names that you choose."
    )
    read: list[str] = setting([], "Additional folders that commands may read.")
    write: list[str] = setting([], "Additional folders that commands may change.")
    outgoing: list[str] = setting(
        [],
        "Folders whose content leaves this machine (synced folders, mail queues): writing there counts as sending.",
    )
    toolchains: list[str] = setting(
        [],
        "Developer tools in your home folder that commands may use: cargo, nvm, pyenv, …, or folders.",
        problem=_toolchain_problem,
    )
    environment: list[str] = setting(
        [], "Names of additional environment variables that commands may see.", problem=_variable_problem
    )
    protected: list[str] = setting(
        [".git/hooks/", ".git/config"],
        "Files and folders that commands may not change, within the folders that they may change.",
    )
    git_name: str = setting("", "Author name of commits that commands make; not set: Hob.")
    git_email: str = setting("", "Author address of commits that commands make; not set: hob@localhost.")
    image: str = setting("", "The image in which docker or podman runs commands; not set: neither is used.")
    memory_mib: int = setting(4096, "Memory a command may use, in MiB.", at_least=64)
    scratch_mib: int = setting(1024, "Space in /tmp for a command, in MiB; it counts as memory too.", at_least=16)
    cpu_seconds: int = setting(1800, "CPU seconds a process may use.", at_least=1)
    processes: int = setting(512, "Processes and threads a command may have at once.", at_least=8)
    file_mib: int = setting(4096, "Largest file a command may write, in MiB.", at_least=1)
    written_mib: int = setting(16384, "Maximum that a command may write to disk in total, in MiB.", at_least=1)
    undo_file_mib: int = setting(256, "Largest file that undo can restore, in MiB.", at_least=1)
    undo_mib: int = setting(1024, "Maximum content of one folder that undo can restore, in MiB.", at_least=1)
    open_files: int = setting(1024, "Files a process may have open at once.", at_least=32)
    output_mib: int = setting(64, "Maximum output of a command before it is stopped, in MiB.", at_least=1)
