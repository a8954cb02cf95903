"""MCP: tools of local and remote servers."""

from hob.app.subsystem import Checks, KeptFiles, Open, Subsystem
from hob.core.lazy import Lazy
from hob.tools.mcp.settings import McpSettings


@Lazy
def _open() -> Open:
    from hob.app.mcp.opening import open_mcp

    return open_mcp


@Lazy
def _checks() -> Checks:
    from hob.app.diagnostics.checks.mcp import CHECKS

    return CHECKS


MCP = Subsystem(
    name="mcp",
    settings={"mcp": McpSettings},
    one_shot=True,
    checks=_checks,
    files=(
        KeptFiles("mcp/*.json", "what you accepted of MCP servers", in_backups=True),
        KeptFiles("mcp/data", "what MCP servers keep themselves", in_backups=True),
        KeptFiles("mcp/installed", "their packages; `hob mcp add` fetches them again"),
        KeptFiles("oauth", "logins at servers, encrypted"),
    ),
    open=_open,
)
