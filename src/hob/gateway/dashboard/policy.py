"""Policy explanations, and the tools that the policy judges, below `/api/v1`."""

from hob.core.trust.scopes import TokenScope
from hob.gateway.dashboard.endpoint_names import NamedEndpoints, own
from hob.gateway.http.endpoint import EndpointCall
from hob.gateway.http.reply import JsonResponse, json_response
from hob.gateway.policy import ExplainedAnswer, ExplainRequest, PolicyExplainer
from hob.gateway.routes.tools import ENDPOINTS as TOOLS


async def explain(call: EndpointCall[ExplainRequest]) -> JsonResponse[ExplainedAnswer]:
    """Explain whether a call would be allowed, asked about or refused, and by which rule. Executes nothing."""
    return json_response(await call.api.port(PolicyExplainer).explain(call.payload))


_same = NamedEndpoints(TOOLS).same
ENDPOINTS = (
    own("POST", "/policy/explain", explain, TokenScope.READ, ExplainRequest),
    _same("GET", "/tools"),
    _same("GET", "/tools/{id}"),
    _same("POST", "/tools/{id}/test"),
)
