"""One message of a chat and its progress."""

import time
from collections.abc import Callable, Mapping
from dataclasses import field
from enum import StrEnum

from hob.cli.chat.rendering.answer import StreamedAnswer
from hob.cli.chat.rendering.tool_calls import RunningCall
from hob.cli.chat.sentences import say
from hob.core.values import dataclass


class MessageProgress(StrEnum):
    """The progress of a message."""

    SENDING = "sending"
    THINKING = "thinking"
    WRITING = "writing"
    CALLING = "calling"
    ASKING = "asking"
    PAUSED = "paused"
    LOST = "lost"


DESCRIPTIONS: Mapping[MessageProgress, str] = {
    MessageProgress.SENDING: "sending",
    MessageProgress.THINKING: "thinking {seconds} s",
    MessageProgress.WRITING: "writing",
    MessageProgress.CALLING: "calling {name}",
    MessageProgress.ASKING: "waiting for your answer",
    MessageProgress.PAUSED: "kept",
    MessageProgress.LOST: "Hob went away; reconnecting",
}
"""The progress in words."""
_REST = frozenset({MessageProgress.ASKING, MessageProgress.PAUSED})
"""States in which a message waits for a person."""


@dataclass(eq=False, slots=True)
class ChatMessageState:
    """A message of this chat, or an earlier one followed again."""

    text: str
    id: str = ""
    opening: str = ""
    """The line announced before the first output of an earlier message."""
    command: bool = False
    """Whether it is a slash command: its answer is plain lines, not Markdown."""
    after: str = ""
    """The chat's own remark after the answer."""
    accepted: Callable[[], object] = bool
    """Called when Hob has accepted the message and named its conversation."""
    asks_in_words: bool = False
    asked: str = ""
    """The question in words that is shown and unanswered. It may be asked again after an answer."""
    quiet: bool = False
    """Whether another message most likely reports the same turn, so that only the end of this one is shown."""
    doing: MessageProgress = MessageProgress.SENDING
    since: float = field(default_factory=time.monotonic)
    name: str = ""
    """The tool that the model is about to call."""
    answer: StreamedAnswer = field(default_factory=StreamedAnswer)
    written: str = ""
    """The text streamed since the answer last began."""
    again: bool = False
    remark: str = ""
    calls: list[RunningCall] = field(default_factory=list)
    noted: set[str] = field(default_factory=set)
    """Remarks and questions that were shown."""

    @property
    def is_waiting(self) -> bool:
        """Whether the message waits for a person."""
        return self.doing in _REST

    def at(self, doing: MessageProgress, name: str = "") -> None:
        """Set the message's current progress."""
        if (doing, name) != (self.doing, self.name):
            self.doing, self.name, self.since = doing, name, time.monotonic()

    def describe(self, language: str) -> str:
        """Describe the message's progress."""
        if self.calls and not self.is_waiting:
            call = self.calls[-1]
            return f"{call.name} {time.monotonic() - call.began:.0f} s"
        seconds = f"{time.monotonic() - self.since:.0f}"
        return say(DESCRIPTIONS[self.doing], language, name=self.name, seconds=seconds)
