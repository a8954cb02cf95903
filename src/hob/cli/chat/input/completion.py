"""Completion of slash commands, their arguments, models and paths."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field

from prompt_toolkit.completion import CompleteEvent, Completer, Completion, PathCompleter
from prompt_toolkit.document import Document

from hob.app.subsystems import SLASH_COMMANDS
from hob.cli.chat.own_commands import OWN
from hob.cli.chat.sentences import say
from hob.core.models import Thinking
from hob.core.translation.language import translate
from hob.core.turns import QueueMode
from hob.core.values import dataclass
from hob.guard.policy.modes import Autonomy, Mode

_MAX = 200


@dataclass(slots=True)
class Names:
    """Names to complete; grows during the chat."""

    language: str = "en"
    models: Sequence[str] = ()
    sessions: Sequence[str] = ()
    tasks: Sequence[str] = ()
    choosing: Callable[[], None] = lambda: None
    """Called when a model name is first completed."""
    _fixed: Mapping[str, Sequence[str]] = field(
        default_factory=lambda: {
            "queue": [*QueueMode, "default"],
            "think": [*Thinking, "default"],
            "permission": [*Mode, "default"],
            "autonomy": [*Autonomy, "default"],
            "session": ["list", "switch", "archive", "title"],
            "session switch": [],
            "session archive": [],
            "compact": ["undo"],
            "undo": ["files"],
            "undo files": ["preview"],
        }
    )

    def after(self, words: str) -> Sequence[str]:
        """Return the candidates after these words of a command."""
        match words:
            case "model":
                self.choosing()
                return [*self.models, "default"]
            case "session switch" | "session archive":
                return self.sessions
            case "cancel":
                return self.tasks
        return self._fixed.get(words, ())

    def commands(self) -> Iterable[tuple[str, str]]:
        """Yield every command with its description."""
        for command in SLASH_COMMANDS:
            yield command.name, translate(command.text, self.language)
        for name, sentence in OWN.items():
            yield name, say(sentence, self.language)


class Completions(Completer):
    """Completes lines that begin with a slash."""

    def __init__(self, names: Names) -> None:
        self._names = names
        self._paths = PathCompleter(expanduser=True)

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        """Yield completions of the word before the cursor."""
        text = document.text_before_cursor
        if not text.startswith("/") or "\n" in text:
            return
        *words, last = text[1:].split(" ")
        if not words:
            for name, told in self._names.commands():
                if name.startswith(last.lower()):
                    yield Completion(f"/{name}", -len(text), display_meta=told)
        elif words[0] == "attach":
            path = text.partition(" ")[2]
            yield from self._paths.get_completions(Document(path), complete_event)
        else:
            found = [name for name in self._names.after(" ".join(words).lower()) if last.lower() in name.lower()]
            for name in sorted(found, key=lambda name: not name.lower().startswith(last.lower()))[:_MAX]:
                yield Completion(name, -len(last))
