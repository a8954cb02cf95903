"""Slash commands: what people can do without a model. Each row of `table.py` has its method here."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Literal, Protocol

from hob.agent.budget.budget import Budget, BudgetStatus
from hob.agent.commands.model_names import chain_of, chosen_name
from hob.agent.commands.permission_modes import AS_CONFIGURED, DEFAULT_MODES, PermissionLevel, PermissionModes
from hob.agent.commands.table import ANSWERS, BY_NAME, CommandTiming, SlashCommand, parse, scope_of
from hob.agent.commands.turn_undo import UndoResult, describe_undo_preview, describe_undone_files, describe_undone_words
from hob.agent.sessions import session_of, thread_session
from hob.agent.settings import AgentSettings
from hob.core.clock import Clock
from hob.core.errors import HobError, ModelError, NotFound
from hob.core.ids import SessionKey
from hob.core.messages import POLLED_CHANNELS, Inbound
from hob.core.model_names import ChecksModelNames, HasAliases
from hob.core.models import NO_SPENDING, PromptAnswer, Spending, Thinking
from hob.core.money import dollars, price
from hob.core.ports.journal import Sessions
from hob.core.ports.model import Model, RoutesRequests
from hob.core.spelling import close_names
from hob.core.translation.code_words import CLASS_WORDS, STATE_WORDS
from hob.core.translation.command_answers import Answer, answer
from hob.core.translation.language import translatable, translate, translated
from hob.core.trust.labels import SenderClass
from hob.core.trust.scopes import TokenScope
from hob.core.turns import QueueMode, SessionChange
from hob.core.values import dataclass

DAY_SECONDS = 86_400.0
_MAX_MODELS = 20  # `hob usage --by model` shows all
_USAGE = 24  # columns; the rest of 80 describes the command


class CommandOperations(Protocol):
    """Operations and queries that commands need beyond sessions and spending."""

    async def status(self) -> Mapping[str, Any]:
        """Return counts and states; `Answer.STATUS` lists the keys used here."""

    async def spent_by_model(self, since: float) -> Sequence[tuple[str, Spending]]:
        """Return the spending of each model since then (Unix seconds), highest first."""

    async def tasks(self) -> Sequence[tuple[str, str, str]]:
        """Return the open tasks: id, state, title."""

    async def prompt(self, session: str) -> PromptAnswer:
        """Return `sections` (name, bytes, tokens, cached), `tokens` and `limit` of the session's next request."""

    async def stop(self, session: SessionKey, reason: str) -> bool:
        """Stop the session's turns, running or waiting, and its sub-agents; return False if there are none."""

    async def stop_all(self, reason: str) -> int:
        """Stop every turn and command and hold autonomous work until `lift`; return the number stopped."""

    async def lift(self) -> bool:
        """Resume autonomous work; return False if it was not held."""

    async def cancel(self, id: str, reason: str) -> bool:
        """Cancel a task or turn by its id; return False if none could be cancelled."""

    async def resume(self, session: SessionKey) -> None:
        """Resume a paused session."""

    async def compact(self, session: SessionKey, model: str) -> tuple[int, int] | str:
        """Return the number of messages summarised and the summary's length, or why nothing was done."""

    async def undo_compaction(self, session: SessionKey) -> bool:
        """Undo the newest summary; return False if there is none."""

    async def undo_turn(self, session: SessionKey) -> UndoResult | None:
        """Hide the newest turn's messages; return None if there is none."""

    async def undo_files(self, session: SessionKey, turn: str, by: str, *, preview: bool) -> Mapping[str, Any]:
        """Restore the files a turn changed, or preview that as `diff`.

        If no turn is named, it is the newest one that changed any. The same `by` gets the same outcome: `turn`,
        `words`, `restored`, `kept` (path, reason), `running`, and `back`, the name that undoes the restore. Raises
        NotFound.
        """


@dataclass(frozen=True, slots=True)
class CommandCall:
    """One use of a command."""

    inbound: Inbound
    session: SessionKey
    rest: str
    language: str


Perform = Callable[[CommandCall], Awaitable[str]]


class SlashCommands:
    """Implements the core port `Commands`."""

    def __init__(
        self,
        operations: CommandOperations,
        sessions: Sessions,
        budget: Budget,
        clock: Clock,
        settings: AgentSettings,
        default_model: Callable[[], str],
        model: Model,
        permission_modes: PermissionModes = DEFAULT_MODES,
        home_session: Callable[[Inbound], SessionKey] = session_of,
        feature_commands: Mapping[SlashCommand, Perform] | None = None,
    ) -> None:
        """`home_session` returns the session of a message whose chat was not switched to another.

        `feature_commands` are commands besides those of the table.
        """
        self._feature_commands = {row.name: perform for row, perform in (feature_commands or {}).items()}
        self._rows = {**BY_NAME, **{row.name: row for row in feature_commands or {}}}
        self._operations = operations
        self._sessions = sessions
        self._budget = budget
        self._clock = clock
        self._language = settings.language
        self._default_model = default_model
        self._model_behind = model
        self._permission_modes = permission_modes
        self._home_session = home_session

    def reconfigure(self, permission_modes: PermissionModes) -> None:
        """Apply changed levels of permission."""
        self._permission_modes = permission_modes

    def timing(self, text: str) -> str | None:
        parsed = parse(text)
        if parsed is None or parsed[0] in ANSWERS:
            return None
        command = self._rows.get(parsed[0])
        return command.timing.value if command else CommandTiming.ARRIVAL.value

    async def run(self, inbound: Inbound, session: SessionKey) -> str:
        parsed = parse(inbound.text)
        if parsed is None:
            raise ValueError("not a command")
        name, rest = parsed
        command = self._rows.get(name)
        if command is None:
            return self._unknown(name)
        owner, needed = inbound.sender.cls is SenderClass.OWNER, scope_of(command, rest)
        if command.owner and not owner:
            return answer(Answer.NEEDS_OWNER, self._language)
        if owner and not inbound.may(needed):
            return answer(Answer.NEEDS_SCOPE, self._language, scope=needed)
        perform: Perform = self._feature_commands.get(name) or getattr(self, f"_{name}")
        try:
            return await perform(CommandCall(inbound, session, rest, self._language))
        except HobError as error:
            return str(error)

    def _unknown(self, name: str) -> str:
        near = close_names(name, self._rows, 1)
        which = Answer.UNKNOWN_NEAR if near else Answer.UNKNOWN
        return answer(which, self._language, name=f"/{name}", near=f"/{near[0]}" if near else "")

    async def _help(self, call: CommandCall) -> str:
        lines = (
            answer(
                Answer.HELP_LINE,
                call.language,
                usage=command.usage.ljust(_USAGE),
                text=translate(command.text, call.language),
            )
            for command in self._rows.values()
        )
        told = answer(Answer.HELP, call.language, lines="\n".join(lines))
        owner = call.inbound.sender.cls is SenderClass.OWNER  # approvals concern the owner only
        return f"{told}\n{answer(Answer.HELP_ANSWERS, call.language)}" if owner else told

    async def _status(self, call: CommandCall) -> str:
        seen = await self._operations.status()
        asked = seen["for_approval"] + seen["for_answer"]
        held = (
            (Answer.STATUS_FOR_APPROVAL, seen["for_approval"]),
            (Answer.STATUS_FOR_ANSWER, seen["for_answer"]),
            (Answer.STATUS_PAUSED, seen["parked"] - asked),
            (Answer.STATUS_HALTED, int(seen["halted"] is not None)),
        )
        lines = [answer(which, call.language, count=count) for which, count in held if count]
        return "\n".join([answer(Answer.STATUS, call.language, **seen), *lines])

    async def _whoami(self, call: CommandCall) -> str:
        sender = call.inbound.sender
        name, known = sender.name or sender.id, CLASS_WORDS[sender.cls]
        return answer(
            Answer.WHOAMI,
            call.language,
            who=known if name == sender.cls else translatable("{name} ({cls})", name=name, cls=known),
            channel=call.inbound.origin.channel,
            session=call.session.removeprefix("local:"),
        )

    async def _stop(self, call: CommandCall) -> str:
        if call.rest.lower() == "all":
            if call.inbound.sender.cls is not SenderClass.OWNER:
                return answer(Answer.NEEDS_OWNER, call.language)
            return answer(Answer.HALTED, call.language, count=await self._operations.stop_all("/stop all"))
        stopped = await self._operations.stop(call.session, "/stop")
        return answer(Answer.STOPPED if stopped else Answer.NOTHING_RUNS, call.language)

    async def _pause(self, call: CommandCall) -> str:
        await self._sessions.change(call.session, paused=True)
        return answer(Answer.PAUSED, call.language)

    async def _resume(self, call: CommandCall) -> str:
        await self._sessions.change(call.session, paused=False)
        await self._operations.resume(call.session)
        return answer(Answer.LIFTED if await self._operations.lift() else Answer.RESUMED, call.language)

    async def _cancel(self, call: CommandCall) -> str:
        if not call.rest:
            return answer(Answer.CANCEL_USAGE, call.language)
        done = await self._operations.cancel(call.rest, "/cancel")
        return answer(Answer.CANCELLED if done else Answer.NOT_CANCELLED, call.language, id=call.rest)

    async def _tasks(self, call: CommandCall) -> str:
        # The command itself is an open task while it runs.
        rows = [row for row in await self._operations.tasks() if row[0] != call.inbound.id]
        if not rows:
            return answer(Answer.NO_TASKS, call.language)
        lines = (
            answer(Answer.TASK_LINE, call.language, id=id, state=STATE_WORDS[state], title=title)
            for id, state, title in rows
        )
        return answer(Answer.TASKS, call.language, lines="\n".join(lines))

    async def _usage(self, call: CommandCall) -> str:
        now, ledger = self._clock.now().timestamp(), self._budget.ledger
        month = await self._operations.spent_by_model(now - 30 * DAY_SECONDS)
        scopes = [
            (call.session, await ledger.spent(session=call.session)),
            ("24 h", await ledger.spent(since=now - DAY_SECONDS)),
            ("30 d", sum((spent for _, spent in month), NO_SPENDING)),
            *[(model or "-", spent) for model, spent in month[:_MAX_MODELS]],
        ]
        lines = [self._usage_line(scope, spent, call.language) for scope, spent in scopes]
        lines += [_limit_line(standing, call.language) for standing in await self._budget.budget_statuses(call.session)]
        return answer(Answer.USAGE, call.language, lines="\n".join(lines))

    def _usage_line(self, scope: str, spent: Spending, language: str) -> str:
        cost: str = price(spent.cost - spent.reserved)
        if spent.unknown_calls:
            cost = answer(Answer.PRICE_UNKNOWN, language, cost=cost, calls=spent.unknown_calls)
        return answer(
            Answer.USAGE_LINE,
            language,
            scope=scope,
            cost=cost,
            calls=spent.calls,
            input=spent.usage.input,
            cached=spent.usage.cache_read,
            rate=f"{spent.usage.cache_read / max(1, spent.usage.input):.0%}",
            output=spent.usage.output,
        )

    async def _context(self, call: CommandCall) -> str:
        prompt = await self._operations.prompt(call.session)
        lines = (
            answer(
                Answer.CONTEXT_LINE,
                call.language,
                name=section["name"],
                bytes=section["bytes"],
                tokens=section["tokens"],
                cached=answer(Answer.CACHED, call.language) if section["cached"] else "",
            )
            for section in prompt["sections"]
        )
        return answer(
            Answer.CONTEXT, call.language, tokens=prompt["tokens"], limit=prompt["limit"], lines="\n".join(lines)
        )

    async def _session(self, call: CommandCall) -> str:
        verb, _, name = call.rest.partition(" ")
        name = name.strip()
        chat = call.inbound.origin.key()
        match verb.lower():
            case "" | "list":
                return await self._session_list(call, chat)
            case "switch" | "new" if name:
                key = thread_session(call.inbound, name, self._home_session(call.inbound))
                await self._sessions.change(key, archived=False)
                await self._sessions.switch(chat, key)
                return answer(Answer.SESSION_SWITCHED, call.language, session=key)
            case "archive":
                return await self._archive(call, name, chat)
            case "title" if name:
                await self._sessions.change(call.session, title=name[:60])
                return answer(Answer.SESSION_TITLED, call.language, title=name[:60])
        return answer(Answer.SESSION_USAGE, call.language)

    async def _archive(self, call: CommandCall, name: str, chat: str) -> str:
        home = self._home_session(call.inbound)
        key = thread_session(call.inbound, name, home) if name else call.session
        if not (await self._sessions.get(key)).updated:
            return answer(Answer.NO_SESSION, call.language, session=name)
        await self._sessions.change(key, archived=True)
        told = answer(Answer.SESSION_ARCHIVED, call.language, session=key)
        if key != call.session or key == home:
            return told
        await self._sessions.switch(chat, home)
        return f"{told}\n{answer(Answer.SESSION_SWITCHED, call.language, session=home)}"

    async def _session_list(self, call: CommandCall, chat: str) -> str:
        # The owner's programs and terminals choose among all sessions of their channel.
        origin, owner = call.inbound.origin.channel, call.inbound.sender.cls is SenderClass.OWNER
        shared = owner and origin in POLLED_CHANNELS
        found = [
            session
            for session in await self._sessions.find(chat=None if shared else chat)
            if not shared or session.key.startswith(f"{origin}:")
        ]
        if call.session not in [session.key for session in found]:
            found = [await self._sessions.get(call.session), *found]
        lines = (
            answer(
                Answer.SESSION_LINE,
                call.language,
                mark="*" if session.key == call.session else " ",
                key=session.key,
                title=session.title,
                entries=session.entries,
            )
            for session in found
        )
        return answer(Answer.SESSION, call.language, session=call.session, lines="\n".join(lines))

    async def _queue(self, call: CommandCall) -> str:
        wanted = call.rest.lower()
        if wanted == "default":
            await self._sessions.change(call.session, mode=None)
        elif wanted in set(QueueMode):
            await self._sessions.change(call.session, mode=QueueMode(wanted))
        else:
            session = await self._sessions.get(call.session)
            return answer(Answer.QUEUE, call.language, mode=session.mode or "default")
        return answer(Answer.QUEUE_SET, call.language, mode=wanted)

    async def _new(self, call: CommandCall) -> str:
        await self._sessions.reset(call.session, "/new")
        return answer(Answer.FRESH, call.language)

    _reset = _new

    async def _compact(self, call: CommandCall) -> str:
        if call.rest.lower() == "undo":
            undone = await self._operations.undo_compaction(call.session)
            return answer(Answer.COMPACTION_UNDONE if undone else Answer.NO_COMPACTION, call.language)
        session = await self._sessions.get(call.session)
        model = chosen_name(self._model_behind, session.model, self._default_model)
        done = await self._operations.compact(call.session, model)
        if isinstance(done, str):
            return answer(Answer.NOT_COMPACTED, call.language, reason=done)
        return answer(Answer.COMPACTED, call.language, messages=done[0], chars=done[1])

    async def _undo(self, call: CommandCall) -> str:
        owner = call.inbound.sender.cls is SenderClass.OWNER
        match call.rest.split():
            case []:
                done = await self._operations.undo_turn(call.session)
                if done is None:
                    return answer(Answer.NOTHING_TO_UNDO, call.language)
                return describe_undone_words(done, call.language, owner=owner)
            case ["files", *_] if not owner:
                return answer(Answer.NEEDS_OWNER, call.language)
            case ["files"]:
                return await self._undo_files(call)
            case ["files", "preview", *names] if len(names) < 2:
                return await self._undo_files(call, *names, preview=True)
            case ["files", name]:
                return await self._undo_files(call, name)
        return answer(Answer.UNDO_USAGE, call.language)

    async def _undo_files(self, call: CommandCall, name: str = "", *, preview: bool = False) -> str:
        try:
            seen = await self._operations.undo_files(call.session, name, call.inbound.id, preview=preview)
        except NotFound:
            if name:
                raise
            return answer(Answer.NO_FILES_TO_UNDO, call.language)
        return (describe_undo_preview if preview else describe_undone_files)(seen, call.language)

    async def _model(self, call: CommandCall) -> str:
        wanted = None if call.rest.lower() == "default" else call.rest
        if wanted == "":
            return await self._model_shown(call, (await self._sessions.get(call.session)).model)
        if wanted is not None and isinstance(self._model_behind, ChecksModelNames):
            reason = await self._model_behind.check_ref(wanted)
            if reason is not None:
                return answer(Answer.MODEL_REFUSED, call.language, reason=reason)
        await self._sessions.change(call.session, model=wanted)
        which = Answer.MODEL_DEFAULT if wanted is None else Answer.MODEL_SET
        return answer(which, call.language, model=self._describe_model(wanted, await self._find_first(wanted)))

    async def _model_shown(self, call: CommandCall, chosen: str | None) -> str:
        """Show the current model, its fallbacks, and the names users can choose from."""
        lines = [
            answer(Answer.MODEL, call.language, model=self._describe_model(chosen, await self._find_first(chosen)))
        ]
        try:
            rest = (await self._load_chain(chosen))[1:]
        except ModelError as error:
            lines.append(str(error))
        else:
            lines += [answer(Answer.MODEL_CHAIN, call.language, models=", ".join(rest))] if rest else []
        if isinstance(self._model_behind, HasAliases) and (aliases := self._model_behind.aliases):
            names = ", ".join(f"{alias} = {name}" for alias, name in sorted(aliases.items()))
            lines.append(answer(Answer.MODEL_ALIASES, call.language, names=names))
        return "\n".join(lines)

    async def _load_chain(self, chosen: str | None) -> tuple[str, ...]:
        """Return the references that would be called, best first; may query the server. Raises ModelError."""
        if isinstance(self._model_behind, RoutesRequests):
            return await chain_of(self._model_behind, chosen or "")
        name = chosen or self._default_model()
        return (name,) if name else ()

    async def _find_first(self, chosen: str | None) -> str:
        """Return the first of these references; empty if there is none."""
        try:
            return next(iter(await self._load_chain(chosen)), "")
        except ModelError:
            return ""

    def _describe_model(self, chosen: str | None, asked: str) -> str:
        if not chosen:
            return asked or answer(Answer.NO_MODEL_NAME, self._language)
        return chosen if asked in ("", chosen) else f"{chosen} ({asked})"

    async def _think(self, call: CommandCall) -> str:
        wanted = call.rest.lower()
        if wanted == "default":
            await self._sessions.change(call.session, thinking=None)
        elif wanted in set(Thinking):
            await self._sessions.change(call.session, thinking=Thinking(wanted))
        else:
            session = await self._sessions.get(call.session)
            levels = ", ".join(Thinking)
            level = session.thinking or "default"
            if wanted:
                return answer(Answer.THINKING_UNKNOWN, call.language, wanted=call.rest, level=level, levels=levels)
            return answer(Answer.THINKING, call.language, level=level, levels=levels)
        if wanted == "default":
            return answer(Answer.THINKING_DEFAULT, call.language)
        return answer(Answer.THINKING_SET, call.language, level=wanted)

    async def _permission(self, call: CommandCall) -> str:
        modes, wanted = self._permission_modes.modes, call.rest.lower()
        if wanted == modes.words[-1] and not self._permission_modes.may_be_full(call.inbound, call.session):
            return answer(Answer.PERMISSION_ALONE, call.language, word=wanted)
        answers = Answer.PERMISSION, Answer.PERMISSION_SET, Answer.PERMISSION_UNKNOWN
        return await self._change_level(call, "permission", modes, answers)

    async def _autonomy(self, call: CommandCall) -> str:
        answers = Answer.AUTONOMY, Answer.AUTONOMY_SET, Answer.AUTONOMY_UNKNOWN
        return await self._change_level(call, "autonomy", self._permission_modes.autonomies, answers)

    async def _change_level(
        self,
        call: CommandCall,
        field: Literal["permission", "autonomy"],
        level: PermissionLevel,
        answers: tuple[Answer, Answer, Answer],
    ) -> str:
        """Show or change one of the two levels; `answers` are: current value, changed, unknown word."""
        wanted, current = call.rest.lower(), getattr(await self._sessions.get(call.session), field)
        if wanted in (*level.words, AS_CONFIGURED):
            chosen = None if wanted == AS_CONFIGURED else wanted
            if level.is_looser(chosen, current):
                if not call.inbound.may(TokenScope.APPROVE):
                    return answer(Answer.NEEDS_SCOPE, call.language, scope=TokenScope.APPROVE)
                if why := self._permission_modes.objection(call.inbound):
                    return translated(why, call.language)
            change: SessionChange = {"permission": chosen} if field == "permission" else {"autonomy": chosen}
            await self._sessions.change(call.session, **change)
            return answer(answers[1], call.language, word=level.describe(chosen, call.language))
        which, word = answers[2 if wanted else 0], level.describe(current, call.language)
        return answer(which, call.language, wanted=call.rest, word=word, lines=level.describe_all(call.language))


def _limit_line(standing: BudgetStatus, language: str) -> str:
    limit, spent = standing.limit, standing.settled
    left = dollars(max(0, limit.maximum - standing.spent.cost))
    return answer(
        Answer.LIMIT_LINE, language, key=limit.key, spent=dollars(spent), limit=dollars(limit.maximum), left=left
    )
