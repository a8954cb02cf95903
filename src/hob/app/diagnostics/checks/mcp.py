"""Checks of MCP servers: accepted by the owner, and their programs installed."""

import shutil
from collections.abc import Iterator
from importlib.util import find_spec

from hob.app.diagnostics.check import Check, CheckResult, warn
from hob.app.diagnostics.context import DiagnosticContext
from hob.core.libraries import install_command
from hob.core.translation.language import translatable
from hob.tools.mcp.accepted import load_accepted
from hob.tools.mcp.settings import McpSettings


def _servers(diagnostics: DiagnosticContext) -> Iterator[CheckResult]:
    config = diagnostics.config
    servers = {name: server for name, server in config[McpSettings].items() if server.on}
    if servers and find_spec("mcp") is None:
        yield warn(
            "MCP servers are set, and the library that talks to them is missing",
            translatable("`{command}` installs it", command=install_command("hob[mcp]")),
        )
    for name, server in servers.items():
        if load_accepted(config.home, name) is None:
            advice = translatable("`hob mcp accept {name}` shows its tools and accepts them", name=name)
            yield warn("its tools were not accepted, so none is offered", advice, f"mcp.{name}")
        if server.command and shutil.which(server.command[0]) is None:
            yield warn(
                translatable("its program {program} is not there", program=server.command[0]),
                translatable("install it, or `hob mcp remove {name}`", name=name),
                f"mcp.{name}.command",
            )


CHECKS = (Check("mcp", "Can the MCP servers be used?", _servers),)
