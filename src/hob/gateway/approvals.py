"""Approvals and grants, as the API and the commands show them."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Protocol, TypedDict

from hob.core.translation.language import translated
from hob.guard.approvals.question import Question
from hob.guard.approvals.question_text import render_question, visible
from hob.guard.policy.reasons import strip_taint
from hob.store.approvals import Approval, Grant
from hob.store.store import Store


class ApprovalAnswer(TypedDict):
    """A question for approval.

    state: see [states](states.md)
    shown: everything the call would do
    why: what the call would do or lacks, in the caller's language; empty for a question of an older Hob
    question: the values that `shown` was made of; null for a question of an older Hob
    scopes: the scopes that an approval may have here
    message: the message whose turn waits for the answer
    """

    id: str
    state: str
    tool: str
    reason: str
    rule: str
    shown: str
    why: str
    question: Mapping[str, Any] | None
    scopes: list[str]
    session: str
    requester: str
    message: str | None
    asked: float
    expires: float
    answered: float | None
    by: str
    scope: str
    note: str


class ApprovalsAnswer(TypedDict):
    """Questions, oldest first."""

    approvals: list[ApprovalAnswer]


class SettledAnswer(ApprovalAnswer):
    """A question after its answer.

    line: the outcome in words
    """

    line: str


class GrantAnswer(TypedDict):
    """An approval for more than one call.

    session: null if it applies everywhere
    """

    id: str
    tool: str
    session: str | None
    requester: str
    directory: str
    given: float
    by: str


class GrantsAnswer(TypedDict):
    """Approvals for more than one call, oldest first."""

    grants: list[GrantAnswer]


class PendingApprovals(Protocol):
    """The owner's open questions and grants."""

    async def open(self) -> Sequence[Approval]:
        """Return the open questions, oldest first. Raises StoreErrors."""

    async def find(self, id: str) -> Approval:
        """Return one question, answered or not. Raises NotFound."""

    async def settle(self, id: str, *, allowed: bool, scope: str, by: str) -> tuple[Approval, str]:
        """Answer a question and resume its turn. Return the question and a line for people. Repeating an answer is
        allowed.

        Raises NotFound, NotAllowed, InvalidRequest.
        """

    def scopes(self, approval: Approval) -> Sequence[str]:
        """Return the scopes that an approval may have here."""

    async def grants(self) -> Sequence[Grant]:
        """Return the approvals that cover more than one call, oldest first. Raises StoreErrors."""

    async def revoke(self, id: str) -> None:
        """Revoke a grant. Raises NotFound."""


async def approvals_view(store: Store, pending_approvals: PendingApprovals, language: str = "") -> ApprovalsAnswer:
    """Return the open questions."""
    asked = await pending_approvals.open()
    views = (approval_view(store, each, pending_approvals.scopes(each), language) for each in asked)
    return {"approvals": await asyncio.gather(*views)}  # their messages share one trip to the database


async def approval_view(store: Store, approval: Approval, scopes: Sequence[str], language: str = "") -> ApprovalAnswer:
    """Return one question; its texts are in `language`, or in the language it was asked in."""
    question = None if approval.question is None else Question.load(approval.question)
    return {
        "id": approval.id,
        "state": approval.state.value,
        "tool": approval.tool,
        "reason": translated(approval.reason, language or "en"),
        "rule": approval.rule,
        "shown": render_question(question, language) if question and language else approval.shown,
        "why": visible(translated(strip_taint(question.reason), language or "en")) if question else "",
        "question": approval.question,
        "scopes": list(scopes),
        "session": approval.session,
        "requester": approval.requester,
        "message": await store.inbox.first_of(approval.turn),
        "asked": approval.asked,
        "expires": approval.expires,
        "answered": approval.answered,
        "by": approval.by,
        "scope": approval.scope,
        "note": approval.note,
    }


async def settled_view(
    store: Store, pending_approvals: PendingApprovals, id: str, *, allowed: bool, scope: str, by: str
) -> SettledAnswer:
    """Answer a question. Return it with a `line` for people. Raises NotFound, NotAllowed, InvalidRequest."""
    approval, line = await pending_approvals.settle(id, allowed=allowed, scope=scope, by=by)
    return {**await approval_view(store, approval, pending_approvals.scopes(approval)), "line": line}


async def grants_view(pending_approvals: PendingApprovals) -> GrantsAnswer:
    """Return the grants; `session` is null if one applies everywhere."""
    return {
        "grants": [
            {
                "id": grant.id,
                "tool": grant.tool,
                "session": grant.session,
                "requester": grant.requester,
                "directory": grant.bound.directory if grant.bound is not None else "",
                "given": grant.given,
                "by": grant.by,
            }
            for grant in await pending_approvals.grants()
        ]
    }
