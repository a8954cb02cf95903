"""Hob's own tools."""

from hob.agent.prompt.specs import EARLIER
from hob.app.browser.port import PagePictures
from hob.app.subsystem import Endpoints, KeptFiles, Open, Subsystem
from hob.core.lazy import Lazy
from hob.tools.memory.ports import KnownFacts, MemorySearch
from hob.tools.registry.builtin_groups import BUILTIN_GROUPS
from hob.tools.sandbox.settings import SandboxSettings
from hob.tools.web.settings import WebSettings


@Lazy
def _open() -> Open:
    from hob.app.tools.lazy_runtime import open_tools

    return open_tools


@Lazy
def _endpoints() -> Endpoints:
    from hob.gateway.routes.tools import ENDPOINTS

    return ENDPOINTS


@Lazy
def _api_v1() -> Endpoints:
    from hob.gateway.dashboard.policy import ENDPOINTS

    return ENDPOINTS


TOOLS = Subsystem(
    name="tools",
    needs=(MemorySearch, KnownFacts, PagePictures),
    settings={"sandbox": SandboxSettings, "web": WebSettings},
    one_shot=True,
    tools=(*BUILTIN_GROUPS, EARLIER),
    files=(KeptFiles("tools", "what commands and file tools keep to undo what they did"),),
    endpoints=_endpoints,
    api_v1=_api_v1,
    open=_open,
)
