"""The approval ledger: questions from asking through the answer and single use to expiry, void if their subject
changes.

An approval is bound to the session, the tool, the exact arguments, the directory, the requester, and the files that
would run. All of this is checked again on use. An unanswered question expires as a refusal, by the wall clock (which
also counts while Hob is not running) or, in case that clock is set back, after the same time of running.
"""

from collections.abc import Awaitable, Callable
from enum import StrEnum

from hob.core.clock import Clock
from hob.core.content.json_text import parse_json_object
from hob.core.ids import ApprovalId, new_approval_id
from hob.core.messages import Inbound
from hob.core.ports.guard import Allow, Ask, Deny, Verdict
from hob.core.states import ApprovalState
from hob.core.steps import ApprovalAnswered, ApprovalAsked, command_hash
from hob.core.tools import ToolCall
from hob.core.translation.language import translatable, translated
from hob.core.turns import Turn
from hob.core.values import dataclass
from hob.guard.approvals.answers import ApprovalReply, ApprovalScope, choose_question, may_answer
from hob.guard.approvals.binding import TOOL, Binder, bound_files, requester_of, unbound_folders
from hob.guard.approvals.question import Question
from hob.guard.approvals.question_text import BAR, TOO_LONG, render_question, shorten_question, visible
from hob.guard.audit.entries import of_approval
from hob.guard.policy.policy import is_grantable
from hob.guard.policy.rule_names import describe_rule
from hob.guard.settings import ApprovalSettings
from hob.store.approvals import Approval, Bound, StoredApprovals
from hob.store.database.state_moves import IllegalMove
from hob.store.decisions import PolicyDecisions

_MAX_ECHOED = 60  # characters echoed of a mistyped id

_ASKED_EARLIER = translatable("an earlier version of Hob asked, and what it showed may not be what would be done now")

Differ = Callable[[ToolCall], Awaitable[str]]
"""Returns the unified diff that a call would produce, or "" if it changes no file. Has no effect and never raises."""


Refusal = Callable[[ToolCall, Turn], Awaitable[str]]
"""Returns why the tool would refuse a call even if approved, or "" if it would not. Has no effect and never raises."""


async def no_diff(_call: ToolCall) -> str:
    """Return no diff."""
    return ""


async def no_refusal(_call: ToolCall, _turn: Turn) -> str:
    """Return no refusal."""
    return ""


class ApprovalOutcome(StrEnum):
    """The outcome of answering a question."""

    TAKEN = "taken"
    NOT_ALLOWED = "not_allowed"
    NOT_OPEN = "not_open"
    UNCLEAR = "unclear"


@dataclass(frozen=True, slots=True)
class AnswerResult:
    """The result of an answer: the question's current state, and a line for the answerer if it was not accepted.

    `UNCLEAR` means that the message is not an answer and is handled as an ordinary message.
    """

    outcome: ApprovalOutcome
    approval: Approval | None = None
    line: str = ""


@dataclass(frozen=True, slots=True)
class _Expiry:
    """The end of a question or approval, by this run's monotonic clock or the wall clock, whichever comes first."""

    running: float
    wall: float


class ApprovalLedger:
    """Implements the agent's `StoredApprovals`: the life cycle of questions, from asking to use."""

    def __init__(
        self,
        approvals: StoredApprovals,
        decisions: PolicyDecisions,
        clock: Clock,
        settings: ApprovalSettings,
        binder: Binder,
        differ: Differ = no_diff,
        language: str = "en",
        refusal: Refusal = no_refusal,
    ) -> None:
        """`language` is the language of questions and replies."""
        self._approvals = approvals
        self._decisions = decisions
        self._clock = clock
        self._settings = settings
        self._binder = binder
        self._differ = differ
        self._language = language
        self._refusal = refusal
        self._ends: dict[ApprovalId, _Expiry] = {}
        self._ended: list[ApprovalId] = []  # expired but not reported yet
        self._loaded = False

    # asking

    async def ask(self, call: ToolCall, reason: str, turn: Turn) -> ApprovalId:
        """Store a question, once per turn and call; asking again returns the same id. Raises StoreErrors."""
        bound = await self._binder.bind(call)
        requester = requester_of(turn)
        at = self._clock.now().timestamp()
        rule = await self._rule(call, turn)
        question = await self._question(call, reason, requester, bound)
        seconds = self._settings.seconds
        approval = Approval(
            id=new_approval_id(),
            turn=turn.id,
            call=call.id,
            tool=call.name,
            hash=command_hash(call),
            session=turn.session,
            reason=describe_rule(rule),
            asked=at,
            expires=at + seconds,
            shown=render_question(question, self._language),
            question=question.values(),
            rule=rule,
            requester=requester,
            bound=bound,
            remaining=seconds,
        )
        id = await self._approvals.put(approval, of_approval)
        self._ends.setdefault(id, self._end(seconds, at + seconds))
        return id

    async def _question(self, call: ToolCall, reason: str, requester: str, bound: Bound) -> Question:
        arguments = parse_json_object(call.arguments or "{}")
        analysis = self._binder.read(call)
        readings = analysis.read_commands if analysis is not None else ()
        return Question(
            tool=call.name,
            arguments=call.arguments if arguments is None else arguments,
            reason=reason,
            requester=requester,
            directory=bound.directory if readings else "",
            commands=tuple(line for reading in readings for line in reading.lines),
            diff=await self._differ(call),
            unheld=tuple(unbound_folders(bound)),
        )

    async def _rule(self, call: ToolCall, turn: Turn) -> str:
        """Return the rule that asked: the rule of the last decision about this call."""
        decided = await self._decisions.find(turn.id, command_hash(call))
        return next((each.rule for each in reversed(decided) if each.call == call.id and each.verdict == "ask"), "")

    async def render_question(self, approval: ApprovalId) -> str:
        """Return the question as shown in chats, or a line saying that it no longer exists. Raises StoreErrors."""
        found = await self._approvals.find(approval)
        return self.text(found) if found is not None else self._not_open(approval, None)

    async def find_answer(self, question: ApprovalAsked) -> ApprovalAnswered | None:
        """Return the answer or the expiry of a question; None while it is open. Raises StoreErrors."""
        await self._expire()
        found = await self._approvals.find(question.approval)
        if found is not None and found.state is ApprovalState.OPEN:
            return None
        allowed = found is not None and found.state in (ApprovalState.ALLOWED, ApprovalState.USED)
        return ApprovalAnswered(question.approval, question.call, allowed, found.by if found is not None else "")

    def text(self, approval: Approval) -> str:
        """Return the question as shown in chats, with instructions for answering."""
        return shorten_question(approval.shown, approval.id, self._settings.shown, self._language)

    def scopes(self, approval: Approval) -> tuple[ApprovalScope, ...]:
        """Return the permitted scopes. More than `once` is offered only if no untrusted text was involved."""
        return tuple(ApprovalScope) if is_grantable(approval.rule) else (ApprovalScope.ONCE,)

    # answering

    async def answer(
        self,
        answer: ApprovalReply,
        inbound: Inbound,
        waiting: tuple[Approval, ...],
        *,
        in_doubt: bool = False,
        scoped: bool = False,
    ) -> AnswerResult:
        """Accept an answer sent as a message; `waiting` are its session's open questions. Raises StoreErrors."""
        id = choose_question(answer, inbound, waiting, in_doubt=in_doubt)
        if id is None:
            return AnswerResult(ApprovalOutcome.UNCLEAR)
        why = may_answer(inbound, self._settings.channels, scoped=scoped)
        if why:
            line = translated(why, self._language)
            return AnswerResult(
                ApprovalOutcome.UNCLEAR if answer.id is None else ApprovalOutcome.NOT_ALLOWED, line=line
            )
        if answer.allowed and (asked := await self._approvals.find(id)) is not None and self._is_cut(asked):
            return AnswerResult(
                ApprovalOutcome.NOT_ALLOWED, asked, translated(translatable(TOO_LONG, id=id), self._language)
            )
        return await self.settle(id, answer, f"{inbound.origin.channel}:{inbound.sender.id}")

    def _is_cut(self, approval: Approval) -> bool:
        """Return whether chats show only part of the question."""
        return approval.state is ApprovalState.OPEN and len(approval.shown) > self._settings.shown

    async def settle(self, id: ApprovalId, answer: ApprovalReply, by: str) -> AnswerResult:
        """Answer a question as the authenticated owner, from the command line or a button. Raises StoreErrors."""
        await self._expire()
        asked = await self._approvals.find(id)
        if asked is None or asked.state is not ApprovalState.OPEN:
            return AnswerResult(ApprovalOutcome.NOT_OPEN, asked, self._not_open(answer.typed or id, asked))
        scope = answer.scope if answer.allowed and answer.scope in self.scopes(asked) else ApprovalScope.ONCE
        seconds = self._settings.use_seconds
        taken = await self._approvals.answer(id, answer.allowed, by, scope=scope, remaining=seconds, record=of_approval)
        if taken is None:
            asked = await self._approvals.find(id)
            return AnswerResult(ApprovalOutcome.NOT_OPEN, asked, self._not_open(id, asked))
        self._ends[id] = self._end(seconds, self._clock.now().timestamp() + seconds)
        once = translatable("This approval is for one time only: {rule}", rule=_why_once(asked.rule))
        line = "" if scope is answer.scope else translated(once, self._language)
        return AnswerResult(ApprovalOutcome.TAKEN, taken, line)

    def _not_open(self, id: str, asked: Approval | None) -> str:
        return translated(_why_not_open(id, asked), self._language)

    # using

    async def check(self, call: ToolCall, turn: Turn, asked: Ask, *, tainted: bool) -> Verdict:
        """Resolve a question to an approval for exactly this call (which is used up), a refusal, or `asked` itself.

        Raises StoreErrors.
        """
        await self._expire()
        known = await self._approvals.newest(turn.id, call.id, command_hash(call))
        if known is not None:
            match known.state:
                case ApprovalState.DENIED:
                    return Deny("approval.denied", "the owner said no")
                case ApprovalState.EXPIRED if known.question is None and known.note == _ASKED_EARLIER:
                    return _ask_again(asked)
                case ApprovalState.EXPIRED:
                    return Deny("approval.expired", known.note or "there was no answer in time")
                case ApprovalState.ALLOWED:
                    return await self._use(known, call, turn, asked)
                case ApprovalState.OPEN:
                    return asked
                case ApprovalState.USED:
                    pass  # an approval can be used only once
        if not tainted and is_grantable(asked.rule) and (granted := await self._granted(call, turn)) is not None:
            return granted
        if why := await self._refusal(call, turn):
            return Deny("approval.useless", why)
        if why := await self._binder.find_unbindable(call):
            return Deny("approval.unbindable", f"no approval can be asked for: {why}")
        return asked

    async def _use(self, approval: Approval, call: ToolCall, turn: Turn, asked: Ask) -> Verdict:
        bound = await self._binder.bind(call)
        by_earlier = approval.question is None and approval.bound is not None
        if by_earlier and not await self._is_what_was_shown(approval, call, bound):
            self._ends.pop(approval.id, None)
            await self._void(approval.id, _ASKED_EARLIER)
            return _ask_again(asked)
        changed = "" if by_earlier else find_change(approval.bound, bound)
        if not changed and (approval.session, approval.requester) != (turn.session, requester_of(turn)):
            changed = "it was given for somebody else"
        if not changed and approval.question and Question.load(approval.question).diff != await self._differ(call):
            changed = translatable("a file has changed since the difference was shown")
        self._ends.pop(approval.id, None)
        if changed:
            await self._void(approval.id, changed)
            return Deny("approval.void", f"the approval does not hold any more: {changed}; ask again")
        if not await self._approvals.use(approval.id, command_hash(call), of_approval):
            return Deny("approval.void", "the approval was used already")
        return Allow(f"approval.{approval.id}")

    async def _is_what_was_shown(self, approval: Approval, call: ToolCall, bound: Bound) -> bool:
        """Return whether a question of an earlier release, which stored no values, showed exactly this call.

        That release did not bind what commands find on their own, so calls with such bindings never match.
        """
        if bound_files(bound, later=True) or approval.bound is None or approval.bound.directory != bound.directory:
            return False
        question = await self._question(call, approval.reason, approval.requester, bound)
        return _lines_of_call(render_question(question)) == _lines_of_call(approval.shown)

    async def _granted(self, call: ToolCall, turn: Turn) -> Verdict | None:
        grants = await self._approvals.grants(command_hash(call))
        requester = requester_of(turn)
        fit = [each for each in grants if each.session in (None, turn.session) and each.requester == requester]
        if not fit:
            return None
        bound = await self._binder.bind(call)
        return next(
            (Allow(f"granted.{each.id}") for each in fit if not find_change(each.bound, bound, later=True)), None
        )

    # expiry

    async def load(self) -> None:
        """Restore the open questions of the previous run. Raises StoreErrors."""
        for each in await self._approvals.standing():
            left = each.remaining if each.remaining is not None else max(0.0, each.expires - each.asked)
            until = each.expires if each.answered is None else each.answered + self._settings.use_seconds
            self._ends.setdefault(each.id, self._end(left, until))
        self._loaded = True

    def reconfigure(self, settings: ApprovalSettings) -> None:
        """Apply the new lifetimes to new questions and answers."""
        self._settings = settings

    def _end(self, seconds: float, until: float) -> _Expiry:
        return _Expiry(self._clock.monotonic() + seconds, until)

    async def expire_due(self) -> tuple[ApprovalId, ...]:
        """Expire what is due; return everything that has expired since the last call. Must be called regularly. Raises
        StoreErrors.
        """
        await self._expire()
        ended, self._ended = tuple(self._ended), []
        return ended

    async def _expire(self) -> None:
        if not self._loaded:
            await self.load()
        now, wall = self._clock.monotonic(), self._clock.now().timestamp()
        for id in [id for id, end in self._ends.items() if end.running <= now or end.wall <= wall]:
            await self._void(id, translatable("there was no answer in time"))
            if self._ends.pop(id, None) is not None:
                self._ended.append(id)

    async def note(self) -> None:
        """Save the remaining lifetimes. Must be called about once a minute and on shutdown. Raises StoreErrors."""
        now = self._clock.monotonic()
        if self._ends:
            await self._approvals.note_remaining({id: max(0.0, end.running - now) for id, end in self._ends.items()})

    @property
    def next_end(self) -> float | None:
        """The latest time at which the next question expires, in monotonic seconds; None without questions."""
        return min((end.running for end in self._ends.values()), default=None)

    async def _void(self, id: ApprovalId, why: str) -> None:
        try:
            await self._approvals.expire(id, why, of_approval)
        except IllegalMove:
            return  # denied or used in the meantime


def _ask_again(asked: Ask) -> Ask:
    why = translatable("{reason}; this is asked again, because {why}", reason=asked.reason, why=_ASKED_EARLIER)
    return Ask(asked.rule, why)


def _lines_of_call(shown: str) -> list[str]:
    return [line for line in shown.split("\n") if line.startswith(BAR)]


def _why_once(rule: str) -> str:
    if rule.startswith("taint.") or rule.endswith(".tainted"):
        return translatable("this conversation holds text that is not yours")
    return describe_rule(rule)


def _why_not_open(id: str, asked: Approval | None) -> str:
    if asked is None:
        written = visible(id if len(id) <= _MAX_ECHOED else f"{id[:_MAX_ECHOED]}…")
        if written:
            return translatable("There is no question {id}; `hob approvals` lists those that are open.", id=written)
        return "Say which question you mean: approve:ID or deny:ID; `hob approvals` lists those that are open."
    match asked.state:
        case ApprovalState.ALLOWED:
            return translatable("{id} was answered with yes already.", id=id)
        case ApprovalState.DENIED:
            return translatable("{id} was answered with no already.", id=id)
        case ApprovalState.EXPIRED if asked.note:
            return translatable("{id} is void ({why}).", id=id, why=asked.note)
        case ApprovalState.EXPIRED:
            return translatable("{id} is void.", id=id)
        case ApprovalState.USED:
            return translatable("{id} was answered with yes, and it is done.", id=id)
    return translatable("{id} is open.", id=id)


def find_change(then: Bound | None, now: Bound, *, later: bool = False) -> str:
    """Describe what changed since the approval; "" if nothing did. An approval for `later` calls is bound to less."""
    if then is None:
        return "what it was bound to was erased"
    if then.directory != now.directory:
        return "the directory is another"
    before, after = (bound_files(each, later=later) for each in (then, now))
    if before == after:
        return ""
    if any(path.startswith(TOOL) for path, _ in {*before.items()} ^ {*after.items()}):
        return translatable("the tool is no longer as it was described")
    if bound_files(then, later=True) != bound_files(now, later=True):
        return translatable("a program, a script or a file to be sent has changed since")
    return "the directory, a file that it names or what its programs find there has changed since"
