"""The text of a streamed answer, made of the notices about a turn. What was sent cannot be taken back."""

from hob.core.notices import Delta, Notice, Progress, Retracted

_BETWEEN = "\n\n"


class StreamedText:
    """Gives the pieces to send. They end with the whole answer, whatever was heard or missed of it before.

    What a model says before it calls a tool is sent too, as it comes; so is what it began to say and took back. Each
    stands apart from what follows by an empty line.
    """

    def __init__(self) -> None:
        self._sent = False
        self._round = ""
        self._ended = False

    def hear(self, notice: Notice) -> str:
        """What is to be sent because of this notice; often nothing."""
        match notice:
            case Delta(text=text, reasoning=False) if text:
                return self._say(text)
            case Retracted():
                self._ended = True
            case Progress(what="call" | "tool"):
                self._ended = True
            case _:
                pass
        return ""

    def finish(self, text: str) -> str:
        """What is missing of the answer."""
        if not self._ended and text.startswith(self._round):
            missing, self._round = text[len(self._round) :], text
            self._sent = self._sent or bool(missing)
            return missing
        self._ended = True
        return self._say(text)

    def _say(self, text: str) -> str:
        before = ""
        if self._ended:
            before = _BETWEEN if self._sent else ""
            self._round, self._ended = "", False
        self._round += text
        self._sent = True
        return before + text
