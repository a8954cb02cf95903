"""What the chat does itself, at a prompt or line by line: leaving, and files for the next message."""

from hob.cli.chat.input.input_draft import InputDraft, path_of
from hob.cli.chat.sentences import ChatSentence, say
from hob.cli.output import printable
from hob.core.values import dataclass

LEAVE = frozenset({"/exit", "/quit"})
ATTACH = "/attach"


@dataclass(frozen=True, slots=True)
class Attached:
    """The mark that stands for a file in the message, or why there is none."""

    mark: str = ""
    problem: str = ""


def attach(draft: InputDraft, path: str, language: str) -> Attached:
    """Take up a file for the next message."""
    if not path:
        return Attached(problem=say(ChatSentence.ATTACH_USAGE, language))
    try:
        return Attached(draft.attach(path_of(path.strip("'\"")).absolute()))
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        return Attached(problem=say(ChatSentence.NO_FILE, language, path=printable(path), reason=reason))


def own_help(language: str) -> str:
    """What `/help` says of them."""
    return f"{say(ChatSentence.ATTACH_USAGE, language)}\n/exit: {say(ChatSentence.EXIT, language)}"
