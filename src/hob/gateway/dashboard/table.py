"""The routes below `/api/v1`. Routes that the API has too are the same endpoints, with the same documentation."""

from typing import Any

from hob.gateway.auth.callers import TokenScope
from hob.gateway.dashboard import canvas, login, media, prompts, setting_names, state, timeline, traces
from hob.gateway.dashboard.endpoint_names import NamedEndpoints
from hob.gateway.dashboard.endpoint_names import own as _own
from hob.gateway.http.endpoint import Endpoint
from hob.gateway.http.fields import Nothing
from hob.gateway.routes import settings
from hob.gateway.routes.dashboard import ENDPOINTS as PAGE
from hob.gateway.routes.sessions import SessionsQuery
from hob.gateway.routes.state import TasksQuery
from hob.gateway.routes.table import ENDPOINTS as OWN

CHAT, READ, VIEW, METRICS, APPROVE, ADMIN = TokenScope
_SEEN = (VIEW,)
"""Callers without the `read` scope get these answers without message content."""
_same = NamedEndpoints(OWN).same
_phone = NamedEndpoints(PAGE).same

ENDPOINTS: tuple[Endpoint[Any], ...] = (
    Endpoint("GET", "/health", state.health, None, Nothing, statuses=(200, 503)),
    _own("GET", "/status", state.status, None, errors=("unauthorized", "too_many_attempts")),
    _own("POST", "/auth/verify", login.verify, None, errors=("too_many_attempts",)),
    _own("POST", "/auth/login", login.login, None, login.Login,
         errors=("unauthorized", "too_many_attempts", "not_allowed")),
    _own("POST", "/auth/logout", login.logout, VIEW, also=(READ, CHAT, APPROVE)),
    _own("GET", "/timeline", timeline.timeline, READ, timeline.TimelinePageQuery, also=_SEEN),
    _own("GET", "/trace/{id}", traces.trace, READ, traces.TraceQuery, also=_SEEN, errors=("not_found",)),
    _own("GET", "/trace-graph/{id}", traces.trace_graph, READ, also=_SEEN, errors=("not_found",)),
    _own("GET", "/prompts/{id}", prompts.prompt_text, READ, prompts.PromptStepQuery, errors=("not_found",)),
    _own("GET", "/policy-decisions", traces.policy_decisions, READ, traces.DecisionsQuery, also=_SEEN,
         errors=("not_found",)),
    _own("GET", "/sessions", state.sessions, READ, SessionsQuery, also=_SEEN),
    _same("GET", "/sessions/show"),
    _own("GET", "/sessions/history", state.history, READ, state.HistoryQuery, errors=("not_found",)),
    _same("POST", "/sessions/change"),
    _same("POST", "/sessions/delete"),
    _same("POST", "/sessions/fork"),
    _own("GET", "/tasks", state.tasks, READ, TasksQuery, also=_SEEN),
    _own("GET", "/tasks/{id}", state.task, READ, also=_SEEN, errors=("not_found",)),
    _same("GET", "/approvals", "/approvals/pending"),
    _same("GET", "/approvals/{id}"),
    _same("POST", "/approvals/{id}"),
    _same("GET", "/grants"),
    _same("DELETE", "/grants/{id}"),
    _same("GET", "/usage", also=_SEEN),
    _own("GET", "/today", state.today, READ, state.TodayQuery, also=_SEEN),
    _same("GET", "/unread"),
    _same("GET", "/prompt"),
    _own("GET", "/views", state.views, READ, also=_SEEN),
    _same("POST", "/stop"),
    _same("POST", "/resume"),
    _same("POST", "/retry/{id}"),
    _same("POST", "/undo"),
    _same("POST", "/replay"),
    _same("POST", "/chat"),
    _same("GET", "/chat/{id}"),
    _same("POST", "/attachments"),
    _own("GET", "/media/{id}", media.media, READ, errors=("not_found",), media=("application/octet-stream",)),
    _own("GET", "/canvas", canvas.pages, READ),
    _own("GET", "/canvas/{id}", canvas.page, READ, canvas.VersionQuery, errors=("not_found",)),
    _own("POST", "/canvas/{id}", canvas.change, APPROVE, canvas.CanvasChange, errors=("not_found",)),
    _own("POST", "/canvas/{id}/call", canvas.call_tool, ADMIN, canvas.AppCall, errors=("not_found", "invalid_request")),
    _own("GET", "/settings", setting_names.settings, ADMIN, setting_names.SettingQuery, errors=("not_found",)),
    _own("GET", "/settings/file", setting_names.file, ADMIN, errors=("not_configured",)),
    _own("POST", "/settings", setting_names.put, ADMIN, setting_names.SetSettingRequest, errors=("not_found",)),
    _own("PATCH", "/settings", settings.change, ADMIN, settings.SettingsChange),
    _phone("GET", "/dashboard/phone", "/phone"),
    _phone("POST", "/dashboard/phone", "/phone"),
    _own("GET", "/audit", state.audit, READ, state.AuditQuery),
)  # fmt: skip
