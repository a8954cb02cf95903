"""Commands of the chat itself: leave, and attach files to the next message."""

from collections.abc import Mapping

from hob.cli.chat.input.input_draft import InputDraft, path_of
from hob.cli.chat.sentences import say
from hob.cli.output import printable
from hob.core.translation.language import translatable
from hob.core.values import dataclass

LEAVE = frozenset({"/exit", "/quit"})
ATTACH = "/attach"
OWN: Mapping[str, str] = {
    "attach": translatable("add a file to the next message"),
    "exit": translatable("leave the chat"),
}
"""The commands of the chat itself, as completion shows them."""
_ATTACH_USAGE = translatable("/attach PATH adds a file or picture to your next message")


@dataclass(frozen=True, slots=True)
class Attached:
    """An attached file's mark, or the problem."""

    mark: str = ""
    problem: str = ""


def attach(draft: InputDraft, path: str, language: str) -> Attached:
    """Attach a file to the next message."""
    if not path:
        return Attached(problem=say(_ATTACH_USAGE, language))
    try:
        return Attached(draft.attach(path_of(path.strip("'\"")).absolute()))
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        return Attached(problem=say("cannot attach {path}: {reason}", language, path=printable(path), reason=reason))


def own_help(language: str) -> str:
    """Return the lines that `/help` shows about them."""
    return f"{say(_ATTACH_USAGE, language)}\n/exit: {say(OWN['exit'], language)}"
