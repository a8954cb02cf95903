"""The API's own routes. Features declare theirs; `hob.app.endpoints` collects all."""

from typing import Any

from hob.core.content.file_limits import LARGEST_FILE
from hob.core.errors import ModelFault
from hob.gateway.auth.callers import TokenScope
from hob.gateway.chat.inbound import ChatRequest
from hob.gateway.dashboard.media import media
from hob.gateway.http.endpoint import EVENTS, JSON, LINES, Endpoint
from hob.gateway.http.failures import BUSY, status_of_fault
from hob.gateway.http.fields import Nothing
from hob.gateway.http.prometheus import PLAIN
from hob.gateway.routes import approvals, attachments, chat, people, sessions, settings, state

CHAT, READ, VIEW, METRICS, APPROVE, ADMIN = TokenScope
ACCEPTING = (*BUSY, "key_reused", "not_allowed", "not_found", "stopping")
"""The ways in which a message may be refused."""
MODEL_FAILURES = tuple(sorted({status_of_fault(fault.value) for fault in ModelFault}))
_KEY = (
    "Idempotency-Key",
    "1 to 255 characters; the same key again, at any time, joins the same message; with another text it is refused",
)
_FOLLOW = ("Accept", "`text/event-stream` follows the message instead of waiting for it")

ENDPOINTS: tuple[Endpoint[Any], ...] = (
    Endpoint(
        "POST",
        "/chat",
        chat.post,
        CHAT,
        ChatRequest,
        errors=(*ACCEPTING, "model_not_found"),
        failures=MODEL_FAILURES,
        media=(JSON, EVENTS),
        headers=(_KEY, _FOLLOW),
        statuses=(200, 202),
        in_query=("message", "session"),
    ),
    Endpoint(
        "GET",
        "/chat/{id}",
        chat.get,
        CHAT,
        chat.WaitQuery,
        errors=("not_found",),
        failures=MODEL_FAILURES,
        statuses=(200, 202),
        media=(JSON, EVENTS),
        headers=(_FOLLOW,),
    ),
    Endpoint(
        "POST",
        "/attachments",
        attachments.post,
        CHAT,
        bytes,
        errors=("too_many_files",),
        max_bytes=LARGEST_FILE,
    ),
    Endpoint(
        "GET", "/attachments/{id}", media, READ, Nothing, errors=("not_found",), media=("application/octet-stream",)
    ),
    Endpoint(
        "GET",
        "/health",
        state.health,
        READ,
        Nothing,
        also=(METRICS,),
        statuses=(200, 503),
    ),
    Endpoint("GET", "/status", state.status, READ, Nothing),
    Endpoint("GET", "/metrics", state.metrics, READ, Nothing, also=(METRICS,), errors=("not_found",), media=(PLAIN,)),
    Endpoint("GET", "/sessions", sessions.sessions, READ, sessions.SessionsQuery),
    Endpoint("GET", "/sessions/show", sessions.show, READ, sessions.SessionReference, errors=("not_found",)),
    Endpoint("POST", "/sessions/change", sessions.change, ADMIN, sessions.ChangeSessionRequest, errors=("not_found",)),
    Endpoint(
        "POST",
        "/sessions/delete",
        sessions.delete,
        ADMIN,
        sessions.SessionReference,
        errors=("not_found",),
        changes="erased",
    ),
    Endpoint("POST", "/sessions/fork", sessions.fork, ADMIN, sessions.ForkSessionRequest, errors=("not_found",)),
    Endpoint("GET", "/usage", state.usage, READ, state.UsageQuery),
    Endpoint("GET", "/unread", state.unread, READ, state.UnreadQuery),
    Endpoint("GET", "/tasks", state.tasks, READ, state.TasksQuery),
    Endpoint("GET", "/timeline", state.timeline, READ, state.TimelineQuery),
    Endpoint("GET", "/prompt", state.prompt, READ, sessions.SessionReference),
    Endpoint("GET", "/export", state.export, READ, state.ExportQuery, errors=("not_found",), media=(LINES,)),
    Endpoint(
        "POST",
        "/retry/{id}",
        state.retry,
        ADMIN,
        Nothing,
        statuses=(202,),
        errors=("not_found",),
    ),
    Endpoint("POST", "/stop", state.stop_all, ADMIN, Nothing),
    Endpoint("POST", "/resume", state.lift, ADMIN, Nothing),
    Endpoint("POST", "/retry", state.retry_all, ADMIN, state.RetryRequest, statuses=(202,)),
    Endpoint(
        "POST",
        "/undo",
        state.undo,
        ADMIN,
        state.UndoRequest,
        errors=("not_found", "not_allowed"),
    ),
    Endpoint("POST", "/replay", state.replay, ADMIN, state.ReplayRequest, errors=("not_found",)),
    Endpoint(
        "GET",
        "/approvals",
        approvals.approvals,
        READ,
        Nothing,
        also=(APPROVE,),
    ),
    Endpoint(
        "GET",
        "/approvals/{id}",
        approvals.approval,
        READ,
        Nothing,
        also=(APPROVE,),
        errors=("not_found",),
    ),
    Endpoint(
        "POST",
        "/approvals/{id}",
        approvals.settle,
        APPROVE,
        approvals.ApprovalDecision,
        errors=("not_found", "not_allowed"),
    ),
    Endpoint("GET", "/grants", approvals.grants, READ, Nothing, also=(APPROVE,)),
    Endpoint(
        "DELETE",
        "/grants/{id}",
        approvals.revoke,
        APPROVE,
        Nothing,
        errors=("not_found",),
        changes="grants",
    ),
    Endpoint("POST", "/backup", state.backup, ADMIN, state.BackupRequest, local=True),
    Endpoint("POST", "/reload", state.reload, ADMIN, Nothing, local=True),
    Endpoint("GET", "/settings", settings.settings, READ, Nothing, local=True),
    Endpoint("POST", "/settings", settings.change, ADMIN, settings.SettingsChange, local=True),
    Endpoint("GET", "/people", people.people, ADMIN, Nothing, local=True),
    Endpoint("POST", "/people/link", people.link, ADMIN, people.AddressLink, local=True, changes="people"),
    Endpoint(
        "POST",
        "/people/unlink",
        people.unlink,
        ADMIN,
        people.AddressReference,
        errors=("not_found",),
        local=True,
        changes="people",
    ),
    Endpoint(
        "POST",
        "/people/forget",
        people.forget,
        ADMIN,
        people.PersonReference,
        errors=("not_found",),
        local=True,
        changes="people",
    ),
    Endpoint(
        "POST",
        "/people/erase",
        people.erase,
        ADMIN,
        people.ErasePersonRequest,
        errors=("not_found",),
        local=True,
        changes="people",
    ),
    Endpoint("GET", "/pairing", people.pairing, ADMIN, Nothing, local=True),
    Endpoint(
        "POST",
        "/pairing/approve",
        people.approve,
        ADMIN,
        people.PairingApproval,
        errors=("not_found",),
        local=True,
        changes="people",
    ),
    Endpoint(
        "POST",
        "/pairing/deny",
        people.deny,
        ADMIN,
        people.PairingCode,
        errors=("not_found",),
        local=True,
        changes="people",
    ),
    Endpoint("POST", "/models/test", state.probe_model, ADMIN, state.ModelProbeRequest, local=True),
    Endpoint(
        "POST",
        "/hand-over",
        state.hand_over,
        ADMIN,
        Nothing,
        errors=("not_allowed",),
        local=True,
        statuses=(202,),
    ),
)
