"""Questions of a turn to people (`ask_user`, approvals) and their answers.

An answer is durable before the turn is woken: an approval has its own row, a written answer is a message that joined
the turn. A resuming turn checks for both, so an answer is found no matter when the process ended.
"""

from collections.abc import Iterator
from dataclasses import replace

from hob.agent.turn.run_state import TurnRun
from hob.agent.turn.turn import CallState, substitute_result
from hob.core.content.fallbacks import parse_options, resolve_choice
from hob.core.ids import OutboxId
from hob.core.messages import POLLED_CHANNELS, Button, Inbound, Outbound, OutboundKind
from hob.core.steps import Steered, Step, ToolReceived, UserAnswered
from hob.core.trust.labels import Label, SenderClass, Trust
from hob.core.trust.pasted import has_pasted_text
from hob.core.turns import Parked, WaitsFor


async def receive_answers(run: TurnRun) -> None:
    """Add the answers given since the turn was parked. Raises StoreErrors."""
    left = iter(_unread_messages(run))
    for item in run.record.state.calls:
        if item.blocked:
            step = await _find_answer(run, item, left)
            if step is not None:
                run.record.add(step)


async def add_questions(run: TurnRun, parked: Parked) -> Parked:
    """Add the full questions and their recipients to a parked outcome."""
    if parked.on not in (WaitsFor.APPROVAL, WaitsFor.ANSWER):
        return parked
    texts: list[str] = []
    outbounds: list[Outbound] = []
    for item in run.record.state.calls:
        text = await _question_text(run, item) if item.blocked else ""
        if text:
            texts.append(text)
            outbounds.extend(_outbounds(run, item, text))
    return Parked(parked.on, parked.until, parked.line, "\n\n".join(texts), tuple(outbounds))


def _unread_messages(run: TurnRun) -> Iterator[Inbound]:
    taken = {step.inbound for step in run.record.steps if isinstance(step, Steered | UserAnswered)}
    return (inbound for inbound in run.turn.joined if inbound.id not in taken)


async def _find_answer(run: TurnRun, item: CallState, left: Iterator[Inbound]) -> Step | None:
    if item.question is not None:
        return _answer_from_message(item, left)
    if item.awaited is None:
        return await _find_decision(run, item)
    late = run.deps.late_results
    result = None if late is None else await late.find(run.turn.id, item.call.id)
    if result is None:
        until = item.awaited.until
        if until is None or run.deps.clock.now().timestamp() < until:
            return None
        return substitute_result(item.call.id, "No result came in time.", "timeout")
    return ToolReceived(replace(result, text=run.deps.mask(result.text)), status="error" if result.is_error else "ok")


def _answer_from_message(item: CallState, left: Iterator[Inbound]) -> Step | None:
    inbound = next(left, None)
    if inbound is None:
        return None
    asked = "" if item.question is None or item.question.again else item.question.question
    return UserAnswered(item.call.id, inbound.id, resolve_choice(asked, inbound.text), _answer_label(inbound))


async def _find_decision(run: TurnRun, item: CallState) -> Step | None:
    approvals = run.deps.approvals
    return None if approvals is None or item.approval is None else await approvals.find_answer(item.approval)


async def _question_text(run: TurnRun, item: CallState) -> str:
    if item.question is not None:
        return item.question.question
    approvals = run.deps.approvals
    return "" if approvals is None or item.approval is None else await approvals.render_question(item.approval.approval)


def _outbounds(run: TurnRun, item: CallState, text: str) -> Iterator[Outbound]:
    """Address the question to each chat the turn came from; a question for approval only to the owner's private chats.

    The terminal and the API fetch questions.
    """
    turn = run.turn
    name = item.approval.approval if item.approval is not None else f"{turn.id}.{item.call.id}"
    chats = dict.fromkeys(
        inbound.origin
        for inbound in (*turn.inbounds, *run.joined)
        if inbound.origin.channel not in POLLED_CHANNELS
        if item.approval is None or (inbound.sender.cls is SenderClass.OWNER and not inbound.group)
    )
    chunks = [(to, chunk) for to in chats for chunk in run.chunks_for(to, text)]
    buttons = _buttons(item)
    for place, (to, chunk) in enumerate(chunks):
        id, last = OutboxId(f"{name}.{place}"), place + 1 == len(chunks) or chunks[place + 1][0] != to
        plain = Outbound(id, to, chunk, OutboundKind.NOTICE, turn.id, turn.trace, place, previews=False)
        yield replace(plain, buttons=buttons, spelled=True) if last and buttons else plain


def _buttons(item: CallState) -> tuple[Button, ...]:
    """Return buttons for the possible answers, for channels that show buttons; the text names the answers too."""
    if item.approval is not None:
        id = item.approval.approval
        return Button("\u2713", f"approve:{id}"), Button("\u2717", f"deny:{id}")
    question = "" if item.question is None else item.question.question
    return tuple(Button(option, option) for option in parse_options(question))


def _answer_label(inbound: Inbound) -> Label:
    """Return the label of an answer: one with pasted text is untrusted as a whole, since it is a single result."""
    pasted = inbound.label.trusted and has_pasted_text(inbound.text)
    return Label(inbound.label.origin, Trust.UNTRUSTED) if pasted else inbound.label
