"""Settings of MCP servers and their permissions."""

from hob.core.settings import Secret, setting
from hob.core.translation.language import translatable
from hob.core.values import dataclass
from hob.tools.sandbox.settings import host_problem


def _url_problem(url: str) -> str:
    if not url or url.startswith(("http://", "https://")):
        return ""
    return translatable("{url!r} begins neither with https:// nor http://", url=url)


@dataclass(frozen=True, slots=True)
class McpServer:
    """A server of tools: a program that runs in the sandbox, or an address."""

    about: str = setting("", "What it is for, in a few words; models read this.")
    command: list[str] = setting(
        [], "The program and its arguments, run in the sandbox; {data} is a folder of its own."
    )
    url: str = setting("", "Its address, if it is not a program on this machine.", problem=_url_problem)
    env: dict[str, Secret] = setting({}, "Environment variables of the program: values, or references to secrets.")
    headers: dict[str, Secret] = setting({}, "Headers of every request to the address.")
    client_id: str = setting("", "The OAuth client id, if you registered Hob there manually.")
    client_secret: Secret | None = setting(None, "The secret of that client, if it has one.")
    hosts: list[str] = setting(
        [], "Hosts that the program may reach: names, *.names, or groups such as group:packages.", problem=host_problem
    )
    read: list[str] = setting([], "Folders that the program may read.")
    write: list[str] = setting([], "Folders that the program may change.")
    tools: list[str] = setting([], "Which of its tools are offered: names, or patterns such as get_*; not set: all.")
    rename: dict[str, str] = setting({}, "Other names for its tools.")
    timeout: float = setting(60.0, "Maximum seconds per call.", at_least=1, at_most=3600)
    sampling: int = setting(
        0,
        "Maximum tokens per day, sent and received, that it may use of your model (MCP sampling); 0: none.",
        at_least=0,
    )
    on: bool = setting(True, "Whether it is enabled.")


class McpSettings(dict[str, McpServer]):
    """MCP servers, which offer tools, by the names you give them."""
