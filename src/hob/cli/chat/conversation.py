"""The messages of a chat and their events, written above the prompt. Independent of keys and screen."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from hob.agent.commands.table import parse
from hob.app.daemon.unix_http import ConnectionLost
from hob.cli.chat.connection import ChatConnection
from hob.cli.chat.follower import MessageFollower
from hob.cli.chat.input.input_draft import DraftedMessage
from hob.cli.chat.message import ChatMessageState, MessageProgress
from hob.cli.chat.rendering.fragments import Line, barred, plain, wrapped
from hob.cli.chat.rendering.tool_calls import RunningCall
from hob.cli.chat.sentences import say
from hob.cli.chat.transcript import ScreenTranscript, TranscriptLineKind
from hob.cli.chat.unseen_messages import UnseenMessage
from hob.cli.conversation.questions import coloured_lines
from hob.cli.conversation.sent_messages import sent_lines
from hob.cli.output import line, printable
from hob.core.errors import HobError
from hob.core.translation.language import translatable
from hob.core.values import dataclass
from hob.gateway.chat.inbound import ClientEvent
from hob.guard.approvals.question_text import BAR

HOW_TO_ANSWER = translatable("yes or no? Type y or n, then Enter; Esc leaves it open")
_FURTHER = "┊ "
"""Marks the continuation of a line too long for the terminal."""


@dataclass(frozen=True, slots=True)
class ChatQuestion:
    """A request for approval."""

    message: ChatMessageState
    id: str
    scopes: Sequence[str]


class Conversation:
    """Sends, follows and stops messages and answers questions. Every method runs in the prompt's event loop."""

    def __init__(
        self,
        connection: ChatConnection,
        follower: MessageFollower,
        transcript: ScreenTranscript,
        body: Mapping[str, Any],
        *,
        width: Callable[[], int],
        changed: Callable[[], None],
        refused: Callable[[str], None],
        settled: Callable[[], None],
    ) -> None:
        """`changed` is called when the display changes, `refused` with an unsent text, `settled` at each end."""
        self._connection = connection
        self._follower = follower
        self._transcript = transcript
        self._body = dict(body)
        self._width = width
        self._changed = changed
        self._refused = refused
        self._settled = settled
        self._shown: set[str] = set()
        self._speaker: ChatMessageState | None = None
        self.language = "en"
        self.session = ""
        self.active: list[ChatMessageState] = []
        self.questions: list[ChatQuestion] = []
        self.stopping = False

    @property
    def busy(self) -> bool:
        """Whether anything runs without waiting for a person."""
        return any(not message.is_waiting for message in self.active)

    @property
    def asks_in_words(self) -> bool:
        """Whether a turn waits for a message."""
        return any(message.asks_in_words and message.doing is MessageProgress.ASKING for message in self.active)

    def send(self, drafted: DraftedMessage, after: str = "", accepted: Callable[[], object] = bool) -> None:
        """Send a message and show its events, then the chat's own remark `after`. `accepted` is called when `session`
        is the conversation of the message.
        """
        is_command = parse(drafted.text) is not None
        message = ChatMessageState(drafted.draft, command=is_command, after=after, accepted=accepted)
        shown = plain(printable(drafted.draft))
        # a turn with a question in words takes the next message as the answer, and both streams report the outcome
        message.quiet = self.asks_in_words and not message.command
        if message.quiet:
            for each in self.active:
                each.asked = ""
        prompt = [[("fg:ansicyan", "> " if not place else "  "), *row] for place, row in enumerate(shown)]
        self._transcript.add(TranscriptLineKind.SAID, prompt)
        body = self._body | {"message": drafted.message}
        if drafted.pasted:
            body |= {"quoted": "\n\n".join(drafted.pasted)}
        self._follow(message, lambda: self._connection.send(body, drafted.files))

    def follow(self, earlier: UnseenMessage) -> None:
        """Show the outcome of an earlier message, or of work that Hob started itself."""
        id, ended = earlier.id, earlier.ended
        if id not in {message.id for message in self.active} | self._shown:
            message = ChatMessageState(earlier.title, id=id, opening=earlier.announce(self.language, ended=ended))
            if not ended:
                self._open(message)
            self._follow(message, lambda: self._connection.follow(id))

    def _follow(self, message: ChatMessageState, begin: Any) -> None:
        self.active.append(message)
        self._follower.follow(
            begin, lambda event: self._handle(message, event), lambda error: self._stream_closed(message, error)
        )
        self._changed()

    def stop(self) -> None:
        """Stop the running turns and those that wait for a person."""
        self.stopping = True
        waiting = {question.message.id for question in self.questions}
        body = dict(self._body)

        def stop() -> None:
            self._connection.stop(body)
            for id in waiting:
                self._connection.command(f"/cancel {id}", body)

        self._follower.do(stop, lambda _: None)
        self._changed()

    def decide(self, question: ChatQuestion, allowed: bool, scope: str) -> None:
        """Send the owner's decision."""
        self.questions.remove(question)

        def failed(error: HobError | OSError | None) -> None:
            self._note(printable(str(error)), "fg:ansired")

        decide = partial(self._connection.decide, question.id, allowed=allowed, scope=scope)
        self._follower.do(decide, lambda told: self._note(printable(told)), failed)
        self._changed()

    def leave_open(self, question: ChatQuestion) -> None:
        """Dismiss a question; its turn keeps waiting."""
        self.questions.remove(question)
        self._note(say("the question stays open; answer with approve:{id} or deny:{id}", self.language, id=question.id))

    def flow(self) -> None:
        """Write the answer's blocks that were finished since the last call."""
        if self._speaker is not None:
            for block in self._speaker.answer.take_finished(self._width()):
                self._transcript.add(TranscriptLineKind.BLOCK, block)

    def write_unfinished(self) -> None:
        """Write the visible part of unfinished answers, before leaving."""
        for message in self.active:
            self._close(message)

    def preview(self) -> list[Line]:
        """Return the lines that may still change: the open block, running calls, remarks."""
        width = self._width()
        lines: list[Line] = []
        if self._speaker is not None:
            lines += self._speaker.answer.preview(width)
        for message in self.active:
            for call in message.calls:
                lines += call.preview(width)
            if message.remark:
                lines += [[("dim", line(message.remark, width))]]
        return lines

    # events of a message

    def _handle(self, message: ChatMessageState, event: ClientEvent) -> None:
        if message.doing is MessageProgress.LOST:
            message.at(MessageProgress.THINKING)
        data = event.data
        match event.name:
            case "accepted":
                self._accepted(message, data)
            case "retracted":
                self._retract(message, lost=bool(data.get("lost")))
            case "message":
                self._show_message(message, data["message"])
            case "question" if not self._is_shown_elsewhere(message, data):
                self._show_question(message, data)
            case "question":
                message.at(MessageProgress.ASKING)
            case "result" | "error":
                self._finish(message, data)
            case _ if message.quiet:
                pass
            case "reasoning":
                message.at(MessageProgress.THINKING)
            case "delta":
                self._append(message, data["text"])
            case "progress":
                self._progress(message, data)
        self._changed()

    def _accepted(self, message: ChatMessageState, data: Mapping[str, Any]) -> None:
        new, message.id, self.session = not message.id, data["id"], data["session"]
        if new:
            message.accepted()
        message.at(MessageProgress.THINKING)

    def _append(self, message: ChatMessageState, text: str) -> None:
        self._clear_questions(message)
        self._open(message)
        message.at(MessageProgress.WRITING)
        if message.again:  # announced only now, since an error might have followed instead
            message.again = False
            self._note(say(translatable("again:"), self.language))
        self._speaker = self._speaker or message
        message.written += text
        message.answer.feed(text)

    def _open(self, message: ChatMessageState) -> None:
        """Announce once which earlier message the following lines belong to."""
        if message.opening:
            opening, message.opening = message.opening, ""
            self._note(opening)

    def _clear_questions(self, message: ChatMessageState) -> None:
        """Drop the message's questions and remark: it runs again."""
        message.remark = ""
        self.questions = [question for question in self.questions if question.message is not message]

    def _retract(self, message: ChatMessageState, *, lost: bool) -> None:
        message.again = message.again or message.answer.given
        message.answer, message.written = type(message.answer)(), ""
        if self._speaker is message:
            self._speaker = None
        if lost:
            # in the next run, messages that joined this turn receive the whole turn's events too
            older = self.active[: self.active.index(message)] if message in self.active else []
            message.quiet = message.quiet or any(not each.is_waiting for each in older)
            message.calls.clear()
            self._clear_questions(message)
        message.at(MessageProgress.LOST if lost else MessageProgress.THINKING)

    def _close(self, message: ChatMessageState) -> None:
        """Write all blocks, because something other than the answer follows."""
        for block in message.answer.finish(self._width()):
            self._transcript.add(TranscriptLineKind.BLOCK, block)
        given = message.answer.given
        message.answer = type(message.answer)()
        message.answer.given = given
        if self._speaker is message:
            self._speaker = None

    def _progress(self, message: ChatMessageState, data: Mapping[str, Any]) -> None:
        name, text = printable(data.get("name", "")), data.get("text", "")
        match data.get("what"):
            case "call":
                message.at(MessageProgress.CALLING, name)
            case "tool":
                message.asked = ""  # it was answered, perhaps by another client
                self._clear_questions(message)
                self._close(message)
                message.calls.append(RunningCall(name, text))
            case "output":
                for call in [call for call in message.calls if call.name == name][-1:]:
                    call.write(text)
            case "tool_done":
                for call in [call for call in message.calls if call.name == name][:1]:
                    self._call_ended(message, call, text)
                message.at(MessageProgress.THINKING)
            case "remark":
                if not message.written:  # otherwise it waits for the end of the answer
                    self._remark(message, text)
            case "waiting":
                message.remark = printable(text)
            case what if text:
                self._close(message)
                self._note(printable(text))
                if what == "paused":
                    message.at(MessageProgress.PAUSED)

    def _call_ended(self, message: ChatMessageState, call: RunningCall, status: str) -> None:
        message.calls.remove(call)
        if status == "asked":  # its question is shown instead
            return
        self._transcript.add(TranscriptLineKind.CALL, call.ended(status, self._width(), self.language))

    def _remark(self, message: ChatMessageState, text: str) -> None:
        if text not in message.noted:
            message.noted.add(text)
            self._note(printable(text))

    def _show_message(self, message: ChatMessageState, sent: Mapping[str, Any]) -> None:
        """Write a message beside the answer once, whichever stream reports it."""
        if sent["id"] not in self._shown:
            self._shown.add(sent["id"])
            self._close(message)
            text = printable("\n".join(sent_lines(sent)))
            self._transcript.add(TranscriptLineKind.BLOCK, wrapped(text, "", self._width()))

    def _show_question(self, message: ChatMessageState, data: Mapping[str, Any]) -> None:
        self._clear_questions(message)
        self._open(message)
        self._close(message)
        message.id = data.get("id", message.id)
        message.at(MessageProgress.ASKING)
        asked = {each["id"]: each for each in data["asked"]}
        fresh = [each for id, each in asked.items() if id not in message.noted]  # the others were answered
        if not asked and message.asked != data["question"]:
            fresh, message.asked = [{"shown": data["question"]}], data["question"]
        for each in fresh:
            rows = coloured_lines(each, self.language)
            self._transcript.add(TranscriptLineKind.QUESTION, list(_question_lines(rows, self._width())))
        message.noted |= asked.keys()
        message.asks_in_words = not data["asked"]
        self.questions += [ChatQuestion(message, each["id"], tuple(each["scopes"])) for each in data["asked"]]
        if fresh:
            self._note(say(HOW_TO_ANSWER if data["asked"] else "your next message is the answer", self.language))

    def _finish(self, message: ChatMessageState, data: Mapping[str, Any]) -> None:
        self._clear_questions(message)
        for call in list(message.calls):
            self._call_ended(message, call, "stopped")
        message.id = data.get("id", message.id)
        if not self._is_shown_elsewhere(message, data):
            self._show_end(message, data)
            self._shown.add(data.get("merged_into", message.id))
        self._close(message)
        self._shown.add(message.id)
        if message in self.active:
            self.active.remove(message)
        self.stopping = self.stopping and self.busy
        if not message.id:
            self._refused(message.text)
        self._settled()

    def _is_shown_elsewhere(self, message: ChatMessageState, data: Mapping[str, Any]) -> bool:
        """Return whether another message of this chat reports, or has reported, the same turn."""
        others = {each.id for each in self.active if each is not message}
        return data.get("merged_into") in others | self._shown

    def _show_end(self, message: ChatMessageState, data: Mapping[str, Any]) -> None:
        self._open(message)
        for sent in data.get("messages", ()):
            self._show_message(message, sent)
        reply = data.get("reply")
        if reply is not None and message.command:
            self._transcript.add(TranscriptLineKind.BLOCK, wrapped(printable(reply), "", self._width()))
        elif reply is not None and not message.written.endswith(reply):
            # streamed before this chat followed it, by another client's turn, or a command's answer
            written = message.written
            self._append(message, reply[len(written) :] if written and reply.startswith(written) else reply)
        self._close(message)
        for note in (*data.get("notes", ()), *filter(None, [message.after])):
            self._remark(message, note)
        if "notice" in data:
            self._note(printable(data["notice"]))
        elif "error" in data:
            self._note(printable(data["error"]["message"]), "fg:ansired")
        elif reply is None:
            self._note(f"({data.get('state', '')})")

    def _stream_closed(self, message: ChatMessageState, error: HobError | OSError | None) -> None:
        """Handle a stream that was closed before its message ended."""
        if message not in self.active:
            return
        self._close(message)
        self._clear_questions(message)
        self.active.remove(message)
        if message.id and (error is None or isinstance(error, ConnectionLost)):
            self._note(
                say(
                    "Hob went away and did not come back; your message is kept: "
                    "`hob ask --resume {id}` waits for the answer",
                    self.language,
                    id=message.id,
                ),
                "fg:ansired",
            )
        else:
            self._note(say("not sent: {reason}", self.language, reason=printable(str(error))), "fg:ansired")
            self._refused(message.text)
        self._changed()

    def _note(self, text: str, style: str = "dim") -> None:
        self._transcript.add(TranscriptLineKind.NOTE, wrapped(text, style, self._width()))
        self._changed()

    def note(self, text: str) -> None:
        """Write a line that is not part of an answer."""
        self._note(text)


def _question_lines(rows: Iterable[tuple[str, str]], width: int) -> Iterator[Line]:
    """Yield a question's lines, wrapped; quoted arguments stay behind their bar."""
    for row, colour in rows:
        style = f"fg:ansi{colour}" if colour else ""
        if row.startswith(BAR):
            yield from barred(row[len(BAR) :].expandtabs(4), style, width, BAR, _FURTHER)
        else:
            yield from wrapped(row, style, width)
