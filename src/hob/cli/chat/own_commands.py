"""Commands of the chat itself: leave, and attach files to the next message."""

from hob.cli.chat.input.input_draft import InputDraft, path_of
from hob.cli.chat.sentences import ChatSentence, say
from hob.cli.output import printable
from hob.core.values import dataclass

LEAVE = frozenset({"/exit", "/quit"})
ATTACH = "/attach"


@dataclass(frozen=True, slots=True)
class Attached:
    """An attached file's mark, or the problem."""

    mark: str = ""
    problem: str = ""


def attach(draft: InputDraft, path: str, language: str) -> Attached:
    """Attach a file to the next message."""
    if not path:
        return Attached(problem=say(ChatSentence.ATTACH_USAGE, language))
    try:
        return Attached(draft.attach(path_of(path.strip("'\"")).absolute()))
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        return Attached(problem=say(ChatSentence.NO_FILE, language, path=printable(path), reason=reason))


def own_help(language: str) -> str:
    """Return the lines that `/help` shows about them."""
    return f"{say(ChatSentence.ATTACH_USAGE, language)}\n/exit: {say(ChatSentence.EXIT, language)}"
