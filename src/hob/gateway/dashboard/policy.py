"""What the policy would say, and the tools that it judges, below `/api/v1`."""

from hob.core.trust.scopes import TokenScope
from hob.core.values import dataclass
from hob.gateway.dashboard.endpoint_names import Known, own
from hob.gateway.http.endpoint import EndpointCall
from hob.gateway.http.fields import field
from hob.gateway.http.reply import JsonResponse, json_response
from hob.gateway.policy import ExplainedAnswer, LazyPolicy, SupposedCall
from hob.gateway.routes.tools import ENDPOINTS as TOOLS
from hob.guard.policy.modes import Autonomy, Mode


@dataclass(frozen=True, slots=True)
class ExplainRequest:
    """A call that somebody would make for the owner."""

    tool: str = field("the tool", characters=(1, 200))
    arguments: str = field("its arguments as JSON, or the one that matters most as it is", "")
    tainted: bool = field("the turn has read what others wrote", False)
    mode: Mode | None = field("the session's mode; without it the usual one", None)
    autonomy: Autonomy | None = field("how much it does without asking; without it the usual", None)
    words: str = field("what the owner has written", "")


async def explain(call: EndpointCall[ExplainRequest]) -> JsonResponse[ExplainedAnswer]:
    """Whether a call would be allowed, asked about or refused, and by which rule. Nothing is done."""
    payload = call.payload
    supposed = SupposedCall(
        payload.tool, payload.arguments, payload.tainted, payload.mode or "", payload.autonomy or "", payload.words
    )
    return json_response(await call.api.port(LazyPolicy).get().explain(supposed))


_same = Known(TOOLS).same
ENDPOINTS = (
    own("POST", "/policy/explain", explain, TokenScope.READ, ExplainRequest),
    _same("GET", "/tools"),
    _same("GET", "/tools/{id}"),
    _same("POST", "/tools/{id}/test"),
)
