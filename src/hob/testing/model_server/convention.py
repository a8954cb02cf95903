"""What the fake model says without a script: it goes by the last user message (see `hob.testing.model_server`)."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from hob.testing.model_server.prompt import Turn
from hob.testing.model_server.replies import Fault, Reply

_CLOSED = re.compile(r"^\[(?:No answer was given to this: .*|The owner stopped this)\.\]$", re.MULTILINE)
_TRIAL = re.compile(r"Call the tool (\w+) with the word (\w+)\.")
"""What `hob models test` asks."""
_FAULT = re.compile(rf"FAULT (?P<name>{'|'.join(Fault)})(?: (?P<times>[0-9]{{1,6}}))? *$", re.MULTILINE)


@dataclass(slots=True)
class Convention:
    """Answers by convention; it remembers how often which fault was shown."""

    _failed: Counter[str] = field(default_factory=Counter)

    def reply_to(self, turns: Sequence[Turn]) -> Reply:
        """The answer to a conversation."""
        if turns and turns[-1].role == "tool":
            return Reply(f"The tool said: {' | '.join(_last_results(turns))}")
        said = next((turn.text for turn in reversed(turns) if turn.role == "user"), "")
        paragraph = _CLOSED.split(said)[-1].strip().partition("\n\n")[0]
        lines = paragraph.splitlines()
        if paragraph.startswith("CALL "):
            words = (line.split(" ", 2) for line in lines if line.startswith("CALL "))
            return Reply(calls=tuple((word[1], word[2] if len(word) > 2 else "{}") for word in words))
        if trial := _TRIAL.match(paragraph):
            return Reply(calls=((trial[1], f'{{"word": "{trial[2]}"}}'),))
        if fault := self.fault_in(paragraph):
            return fault
        if headings := _headings(turns):
            return Reply("\n\n".join(f"{heading}\n- nothing of note" for heading in headings))
        return Reply(f"You said: {paragraph}")

    def fault_in(self, text: str) -> Reply | None:
        """The fault that a text asks for by `FAULT name [times]` in its first line, if it does."""
        asked = _FAULT.match(text)
        if asked is None:
            return None
        self._failed[asked[0]] += 1
        if asked["times"] and self._failed[asked[0]] > int(asked["times"]):
            return Reply("ok")
        return Reply("Some words that come before the trouble.", fault=Fault(asked["name"]))


def _headings(turns: Sequence[Turn]) -> list[str]:
    if not turns or turns[0].role != "system":
        return []
    return [line for line in turns[0].text.splitlines() if line.startswith("## ")]


def _last_results(turns: Sequence[Turn]) -> list[str]:
    last = len(turns)
    while last and turns[last - 1].role == "tool":
        last -= 1
    return [turn.text for turn in turns[last:]]
