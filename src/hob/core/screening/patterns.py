"""Regular expressions that no text can make slow.

Python's `re` backtracks, so a pattern such as `(a+)+b` may run for years. Here a pattern is accepted only if the number
of steps at one position of a text has a bound that does not depend on the text. With k choices before it, each item of
a sequence is tried at most k times; an item repeated m to n times leaves at least n - m + 1 choices. So every
repetition needs an upper bound, except one of a single character at the very end, since nothing after it can fail.
Possessive repetitions (`{0,9}+`), atomic groups and lookarounds leave one choice.
"""

import re
from collections.abc import Iterable

from hob.core.translation.language import translatable

MAX_STEPS = 2_000
"""Maximum steps of a pattern at one position in the worst case: about 20 µs."""

_MAX_CHARACTERS = 1_000
_COUNT = re.compile(r"\{(\d{0,6})(,?)(\d{0,6})\}")
_OPENINGS = re.compile(r"\(\?(?::|>|=|!|<=|<!|P?<[^\W\d]\w{0,50}>)")
_FLAGS = re.compile(r"\(\?[aims]{1,4}\)")
_ONE_CHOICE = ("(?>", "(?=", "(?!", "(?<=", "(?<!")


def compile_pattern(pattern: str) -> re.Pattern[str]:
    """Compile a pattern for `search`. Raises ValueError, in words for its author, if it is invalid or could be slow."""
    if len(pattern) > _MAX_CHARACTERS:
        raise ValueError(translatable("the pattern is longer than {maximum} characters", maximum=_MAX_CHARACTERS))
    try:
        compiled = re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        raise ValueError(translatable("not a regular expression: {problem}", problem=str(error))) from None
    if compiled.match("") is not None:
        raise ValueError(translatable("the pattern matches the empty text, so it would match everywhere"))
    count_steps(pattern)
    return compiled


def compile_words(words: Iterable[str]) -> re.Pattern[str] | None:
    """Return a pattern that matches any of these as whole words in any case; None if there are none."""
    known = sorted({word.strip() for word in words if word.strip()}, key=len, reverse=True)
    if not known:
        return None
    inner = "|".join(r"\s{1,8}".join(map(re.escape, word.split())) for word in known)
    return re.compile(rf"(?<!\w)(?:{inner})(?!\w)", re.IGNORECASE)


def count_steps(pattern: str) -> int:
    """Return the maximum number of characters compared at one position. Raises ValueError beyond `MAX_STEPS`."""
    return _PatternReader(pattern).read()


class _PatternReader:
    """Parser for a pattern that `re` has accepted. A pair is (choices left for what follows, worst-case steps)."""

    def __init__(self, pattern: str) -> None:
        flags = _FLAGS.match(pattern)
        self._at = flags.end() if flags else 0
        self._text = pattern
        self._depth = 0

    def read(self) -> int:
        _, steps = self._alternatives()
        if self._at < len(self._text):
            raise ValueError(translatable("the pattern uses a construct that may be slow"))
        return steps

    def _alternatives(self) -> tuple[int, int]:
        ways, steps = self._sequence()
        while self._text.startswith("|", self._at):
            self._at += 1
            more = self._sequence()
            ways, steps = ways + more[0], steps + more[1]
        return ways, steps

    def _sequence(self) -> tuple[int, int]:
        ways, steps = 1, 1
        while self._at < len(self._text) and self._text[self._at] not in "|)":
            more = self._repeated()
            steps += ways * more[1]
            ways *= more[0]
            if steps > MAX_STEPS:
                raise ValueError(
                    translatable(
                        "the pattern leaves too many choices; repeat less, e.g. {less} for {{0,80}}", less="{0,10}"
                    )
                )
        return ways, steps

    def _repeated(self) -> tuple[int, int]:
        began = self._text[self._at]
        item = self._item()
        minimum, maximum = self._count()
        possessive = self._text.startswith("+", self._at)
        if possessive or (self._text.startswith("?", self._at) and (minimum, maximum) != (1, 1)):
            self._at += 1
        if maximum is None:
            if began == "(" or self._depth or self._at < len(self._text):
                raise ValueError(
                    translatable(
                        "a repetition needs an upper bound, e.g. {plus} for + and {star} for *",
                        plus="{1,50}",
                        star="{0,50}",
                    )
                )
            return 1, minimum + 1
        ways, steps = _repeated_cost(item, minimum, maximum)
        return (1, steps) if possessive else (ways, steps)

    def _count(self) -> tuple[int, int | None]:
        sign = self._text[self._at : self._at + 1]
        if sign and sign in "*+?":
            self._at += 1
            return (1 if sign == "+" else 0), (1 if sign == "?" else None)
        match = _COUNT.match(self._text, self._at)
        if match is None or match.group() == "{}":
            return 1, 1
        self._at = match.end()
        minimum = int(match[1] or 0)
        return minimum, (int(match[3]) if match[3] else None if match[2] else minimum)

    def _item(self) -> tuple[int, int]:
        sign = self._text[self._at]
        if sign == "(":
            return self._group()
        if sign == "[":
            return self._set()
        if sign == "\\":
            if self._text[self._at + 1] in "123456789":
                raise ValueError(translatable("a pattern may not refer back to a group"))
            self._at += 1
            if self._text[self._at] == "N":
                raise ValueError(translatable("write the character itself, not its name"))
            self._at += {"x": 2, "u": 4, "U": 8}.get(self._text[self._at], 0)
        self._at += 1
        return 1, 1

    def _group(self) -> tuple[int, int]:
        opening = _OPENINGS.match(self._text, self._at)
        if opening is None and self._text.startswith("(?", self._at):
            raise ValueError(translatable("the pattern uses a kind of group that may be slow"))
        self._at = opening.end() if opening else self._at + 1
        self._depth += 1
        ways, steps = self._alternatives()
        self._depth -= 1
        self._at += 1
        return (1, steps) if opening and opening.group() in _ONE_CHOICE else (ways, steps)

    def _set(self) -> tuple[int, int]:
        self._at += 2 if self._text.startswith("[^", self._at) else 1
        first = self._at
        while self._text[self._at] != "]" or self._at == first:
            self._at += 2 if self._text[self._at] == "\\" else 1
        self._at += 1
        return 1, 1


def _repeated_cost(item: tuple[int, int], minimum: int, maximum: int) -> tuple[int, int]:
    ways, steps, reached = 0, 0, 1
    for times in range(maximum + 1):
        ways += reached if times >= minimum else 0
        if times < maximum:
            steps += reached * item[1]
            reached *= item[0]
        if steps > MAX_STEPS:
            break
    return ways, steps
