"""Incremental reader of an answer: text to show immediately, and calls to extract."""

import re

from hob.providers.text_tools.blocks import CLOSERS, OPENERS, BlockState, CallBlock, FoundBlock, judge
from hob.providers.text_tools.calls import Tools, WrittenCall

_THINK, _THOUGHT, _FENCE = "<think>", "</think>", "```"
_OPENER = re.compile("|".join(map(re.escape, (*OPENERS, _THINK))))
_BETWEEN = re.compile("|".join((r"\s", *map(re.escape, CLOSERS))))
_DECIDING = frozenset('{}[]()<>`"\n')  # no other characters decide a block
_MAX_HELD = 256 * 1024
"""Maximum characters held back; a longer block is not a call of a small model."""
_MAX_REFUSED = 64  # false beginnings of calls; after that the rest of the answer is not examined
_MAX_CALLS = 64


def _beginnings(*words: str) -> frozenset[str]:
    return frozenset(word[:end] for word in words for end in range(1, len(word)))


_PARTS = _beginnings(*OPENERS, _THINK)
_PARTS_BETWEEN = _beginnings(*OPENERS, *CLOSERS)
_PARTS_THOUGHT = _beginnings(_THOUGHT)
_PARTS_FENCE = _beginnings(_FENCE)
_LONGEST = max(map(len, (*OPENERS, *CLOSERS, _THINK)))


class CallReader:
    """Reads an answer piece by piece. The results do not depend on how the answer was split.

    Text that is not a call is returned unchanged, except white space before a call. After a call only further calls are
    expected: at the first other text `done` is set and the rest is dropped, since it can only be invented.
    """

    def __init__(self, tools: Tools) -> None:
        self.calls: list[WrittenCall] = []
        self.done = False
        self.unfinished = False
        """Whether the answer ended before its last call did, as far as can be told."""
        self._tools = tools
        self._held = ""
        self._more: list[str] = []
        self._space = ""
        self._begun = False
        self._opener = ""
        self._fenced = False
        self._refused = 0
        self._patience = 0
        self._read = self._read_text

    def feed(self, text: str) -> str:
        """Return the text to show now."""
        if self.done:
            return ""
        if self._read == self._read_block and len(self._held) > 64:
            self._more.append(text)
            self._patience -= len(text)
            if self._patience > 0 or _DECIDING.isdisjoint(text):
                return ""
            text = self._more.pop()
        return self._run(text, final=False)

    def finish(self) -> str:
        """Return the remaining text to show at the end of the answer."""
        if self.done:
            return ""
        shown = self._run("", final=True)
        return shown if self.calls else shown + self._space

    def _run(self, text: str, *, final: bool) -> str:
        if self._more:
            text = "".join(self._more) + text
            self._more.clear()
        self._held += text
        shown: list[str] = []
        while self._held and not self.done:
            before, reading = len(self._held), self._read
            self._read(shown, final)
            if len(self._held) == before and self._read == reading:
                break
        return "".join(shown)

    def _show(self, shown: list[str], length: int) -> None:
        """Show this much of the held text. White space waits for what follows: before a call it is not shown."""
        text, self._held = self._held[:length], self._held[length:]
        body = text.rstrip()
        if not body:
            self._space += text
            return
        shown.append(self._space + body)
        self._space = text[len(body) :]
        self._begun = True

    def _show_all_but(self, shown: list[str], parts: frozenset[str], final: bool) -> None:
        self._show(shown, len(self._held) - (0 if final else _partial_match_length(self._held, parts)))

    def _read_text(self, shown: list[str], final: bool) -> None:
        if not self._begun and self._read_beginning(shown, final):
            return
        found = _OPENER.search(self._held)
        if found is None:
            self._show_all_but(shown, _PARTS, final)
            return
        self._show(shown, found.start())
        if found[0] == _THINK:
            self._show(shown, len(_THINK))
            self._read = self._read_thought
        else:
            self._begin_block(found[0])

    def _read_beginning(self, shown: list[str], final: bool) -> bool:
        """Begin a block if the answer so far may consist only of calls; return False if it cannot."""
        start = len(self._held) - len(self._held.lstrip())
        if self._held[start : start + 1] not in ("{", "["):
            return False
        if self._held[start] == "[":
            if self._held.startswith("[TOOL_CALLS]", start):
                return False
            if not final and "[TOOL_CALLS]".startswith(self._held[start:]):
                return True
        self._show(shown, start)
        self._begin_block("")
        return True

    def _read_thought(self, shown: list[str], final: bool) -> None:
        if self._read_until(_THOUGHT, _PARTS_THOUGHT, shown, final):
            self._begun = False

    def _read_code(self, shown: list[str], final: bool) -> None:
        self._read_until(_FENCE, _PARTS_FENCE, shown, final)

    def _read_until(self, word: str, parts: frozenset[str], shown: list[str], final: bool) -> bool:
        """Show everything up to the end of this word, then go on with text; return whether it has arrived."""
        end = self._held.find(word)
        if end < 0:
            self._show_all_but(shown, parts, final)
            return False
        self._show(shown, end + len(word))
        self._read = self._read_text
        return True

    def _read_rest(self, shown: list[str], final: bool) -> None:
        self._show(shown, len(self._held))

    def _begin_block(self, opening_tag: str) -> None:
        self._opener = opening_tag
        self._read = self._read_block

    def _read_block(self, shown: list[str], final: bool) -> None:
        whole = len(self._held) < _MAX_HELD
        block = CallBlock(self._held[:_MAX_HELD], self._tools, final and whole)
        verdict = judge(self._opener, block, after_calls=bool(self.calls))
        if isinstance(verdict, FoundBlock):
            self._take(verdict)
            self.unfinished = final and not self._held
        elif verdict is BlockState.TEXT or not whole:
            self._refuse(shown, whole)
        else:  # a long block is judged less often, since each time costs its whole length
            self._patience = len(self._held) // 64

    def _take(self, found: FoundBlock) -> None:
        self.calls += found.calls
        self._held = self._held[found.end :]
        self._fenced = found.fenced
        self._read = self._read_between
        self.done = len(self.calls) >= _MAX_CALLS

    def _refuse(self, shown: list[str], whole: bool) -> None:
        if self.calls:
            self.done = True
            return
        self._refused += 1
        self._show(shown, len(self._opener) or 1)
        if not whole or self._refused > _MAX_REFUSED:
            self._read = self._read_rest
        else:
            self._read = self._read_code if self._opener == _FENCE else self._read_text

    def _read_between(self, shown: list[str], final: bool) -> None:
        """Read between calls: only the end of one or the beginning of the next is valid."""
        if self._fenced and self._held.startswith(_FENCE):
            self._fenced = False
            self._held = self._held[len(_FENCE) :]
        elif found := _BETWEEN.match(self._held):
            self._held = self._held[found.end() :]
        elif (opener := _OPENER.match(self._held)) and opener[0] != _THINK:
            self._begin_block(opener[0])
        elif self._held[0] == "{":
            self._begin_block("")
        elif final or self._held not in _PARTS_BETWEEN:
            self.done = True


def _partial_match_length(text: str, parts: frozenset[str]) -> int:
    """Return the length of the longest suffix of the text that may become one of the words."""
    for length in range(min(len(text), _LONGEST), 0, -1):
        if text[-length:] in parts:
            return length
    return 0
