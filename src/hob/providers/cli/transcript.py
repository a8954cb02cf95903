"""A conversation as one text: a CLI takes a single prompt, whoever said what before."""

from collections.abc import Sequence

from hob.core.models import AssistantMessage, ModelMessage, ToolMessage, UserMessage

_LEAD = "Below is the conversation so far, oldest first. Answer its last message; what you said before is yours."
_UNSEEN = "[A picture stood here; it cannot be shown to you.]"


def render(messages: Sequence[ModelMessage], mark: str) -> str:
    """The conversation; a lone message stands for itself. `mark` is what nobody who wrote in it can have known."""
    if len(messages) == 1:
        return words_of(messages[0])
    parts = [
        f"<{_side(said)}-{mark}>\n{words_of(said).replace(mark, '…')}\n</{_side(said)}-{mark}>" for said in messages
    ]
    return "\n".join([_LEAD, *parts])


def render_new(messages: Sequence[ModelMessage]) -> str:
    """What the CLI has not heard yet of a conversation that it keeps."""
    return "\n\n".join(words_of(said) for said in messages)


def words_of(said: ModelMessage) -> str:
    """What one message says."""
    if isinstance(said, UserMessage) and said.images:
        return "\n".join([said.text, *(_UNSEEN for _ in said.images)])
    if isinstance(said, ToolMessage):
        return f"[{'A tool failed' if said.is_error else 'A tool gave'}]\n{said.text}"
    return said.text


def _side(said: ModelMessage) -> str:
    return "assistant" if isinstance(said, AssistantMessage) else "user"
