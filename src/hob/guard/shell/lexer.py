"""Word lexer: quotes, escapes, expansions (POSIX.1-2024, XCU 2.2 and 2.6; bash's `$'..'`, braces, substitutions).

One pass from left to right; only the text of nested backquotes is read twice, and nesting is bounded.
"""

import re

from hob.guard.shell.arguments import ANY, HERE, HOME, ONE, STAR
from hob.guard.shell.tree import (
    ArithmeticExpansion,
    Output,
    Parameter,
    Part,
    ProcessSubstitution,
    Redirect,
    Script,
    SyntaxProblem,
    Text,
    Word,
)

DEEPEST = 32  # levels of nesting

_RUN = re.compile(r"[^ \t\n;&|<>()'\"\\$`*?\[{]+")
_IN_BRACES = re.compile(r"[^ \t\n;&|<>()'\"\\$`*?\[{}]+")
_IN_DOUBLE = re.compile(r'[^"\\$`]+')
_IN_BODY = re.compile(r"[^\\$`]+")
_IN_SUM = re.compile(r"[^\\$`()\]]+")
_BACKQUOTED = re.compile(r"(?:[^`\\]|\\.)*", re.DOTALL)
_ANSI = re.compile(r"(?:[^'\\]|\\.)*", re.DOTALL)
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PARAMETER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|[0-9]+|[@*#?$!-]")
_PREFIXED = re.compile(r"[#!](?=[A-Za-z0-9_@*#$]|[-?!]\})")
_INDEX = re.compile(r"\[([^\]\n$`'\"\\]*)\]")
_OPERATOR = re.compile(r":[-=?+]|##?|%%?|/[/#%]?|\^\^?|,,?|@|[-=?+:]")
_BRACKET = re.compile(r"\[[!^]?\]?[^\]\s'\"\\$`;&|<>()/]{0,64}\]")
_TILDE = re.compile(r"(^|[=:])~(\+|-|[A-Za-z0-9._-]*)(?=[/:]|$)")
_PARENTHESIS = re.compile(r"[()]")
_ESCAPE = re.compile(r"\\(x[0-9A-Fa-f]{1,2}|u[0-9A-Fa-f]{1,4}|U[0-9A-Fa-f]{1,8}|[0-7]{1,3}|c.|.)", re.DOTALL)
_ZERO = re.compile(r"\\0([0-7]{1,3})")
_ENDS_WORD = frozenset(" \t\n;&|<>()")
_NAMED_ESCAPES = {"a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}


LENGTH = "length"  # the operator of `${#name}`, in contrast to `#`, that of `${name#pattern}`


class LexerError(Exception):
    """Raised when the text cannot be read beyond the current position."""


class ShellLexer:
    """A text and a read position. The parser adds command syntax."""

    def __init__(self, text: str, depth: int = 0) -> None:
        self.text = text
        self.pos = 0
        self.depth = depth
        self.braced = False
        self.problems: list[SyntaxProblem] = []
        self.pending: list[tuple[Redirect, str, bool, bool]] = []

    def script_until(self, ends: frozenset[str]) -> Script:
        """Parse commands up to one of the end words, which is not consumed. Implemented by the parser."""
        raise NotImplementedError

    def script_of(self, text: str) -> Script:
        """Parse the commands of another text. Implemented by the parser."""
        raise NotImplementedError

    def deeper(self) -> None:
        """Enter one level of nesting. Raises LexerError if there are too many."""
        self.depth += 1
        if self.depth > DEEPEST:
            raise LexerError("it is nested too deeply")

    def word(self) -> Word:
        """Read the word at the current position; it has no parts if there is none. Sets `braced` if it may contain a
        brace list.
        """
        text, start = self.text, self.pos
        self.braced = False
        run = _RUN.match(text, start)
        if run is not None and (run.end() == len(text) or text[run.end()] in " \t\n;&|)"):
            self.pos = run.end()
            value = run[0]
            return Word((Text(expand_tilde(value, True) if "~" in value else value),), value)
        parts: list[Part] = []
        braced = False
        while self.pos < len(text):
            char = text[self.pos]
            if char in _ENDS_WORD:
                if not self._read_continuation(char, start, parts):
                    break
            else:
                braced = braced or char == "{"
                self._piece(char, parts, self.pos == start)
        self.braced = braced  # nested words have overwritten it
        return Word(tuple(parts), text[start : self.pos])

    def _read_continuation(self, char: str, start: int, parts: list[Part]) -> bool:
        """Read a process substitution or extended pattern here, if there is one."""
        text, pos = self.text, self.pos
        if char in "<>" and text.startswith("(", pos + 1):
            self.pos += 2
            parts.append(ProcessSubstitution(self._closed(")"), char))
            return True
        if char == "(" and pos > start and text[pos - 1] in "?*+@!":
            self.pos += 1
            self._pattern()
            parts.append(Text(ANY))
            return True
        return False

    def _pattern(self) -> None:
        """Skip an extended pattern `+(a|b)`. Its words are parsed only to report their errors."""
        self.deeper()
        while not self.text.startswith(")", self.pos):
            if self.pos >= len(self.text):
                raise LexerError("a parenthesis is not closed")
            before = self.pos
            self.word()
            if self.pos == before:
                self.pos += 1
        self.pos += 1
        self.depth -= 1

    def _piece(self, char: str, parts: list[Part], first: bool) -> None:
        text = self.text
        if char == "\\":
            self._escaped(parts)
        elif char == "'":
            end = text.find("'", self.pos + 1)
            if end < 0:
                raise LexerError("a quote is not closed")
            parts.append(Text(text[self.pos + 1 : end], True))
            self.pos = end + 1
        elif char == '"':
            self.pos += 1
            self._double(parts)
        elif char == "$":
            self._dollar(parts, False)
        elif char == "`":
            self._backquoted(parts, False)
        elif char in "*?[":
            self._wildcard(char, parts)
        elif char == "{":
            if parts and isinstance(parts[-1], Parameter) and text[self.pos - 1] not in '}"':
                parts.append(Text(ANY))  # `$a{b,c}` is `$ab $ac`
            parts.append(Text("{"))
            self.pos += 1
        else:
            run = _RUN.match(text, self.pos)
            assert run is not None  # noqa: S101 - every other character has its case above
            value = run[0]
            parts.append(Text(expand_tilde(value, first) if "~" in value else value))
            self.pos = run.end()

    def _escaped(self, parts: list[Part]) -> None:
        following = self.text[self.pos + 1 : self.pos + 2]
        if following != "\n":
            parts.append(Text(following or "\\", True))
        self.pos += 2

    def _wildcard(self, char: str, parts: list[Part]) -> None:
        if char == "[":
            found = _BRACKET.match(self.text, self.pos)
            following = self.text[self.pos + 1 : self.pos + 2]
            if found is not None:
                parts.append(Text(ONE))
                self.pos = found.end()
                return
            whole = following in _ENDS_WORD or following in ("", "[")
            parts.append(Text("[" if whole else ANY))
        else:
            parts.append(Text(STAR if char == "*" else ONE))
        self.pos += 1

    def _double(self, parts: list[Part]) -> None:
        """Read the inside of double quotes. Yields at least one part, since "" is a word."""
        text, before = self.text, len(parts)
        while True:
            run = _IN_DOUBLE.match(text, self.pos)
            if run is not None:
                parts.append(Text(run[0], True))
                self.pos = run.end()
            if self.pos >= len(text):
                raise LexerError("a double quote is not closed")
            if text[self.pos] == '"':
                self.pos += 1
                break
            self._within(parts, '$`"\\')
        if len(parts) == before:
            parts.append(Text("", True))

    def _within(self, parts: list[Part], escapable: str) -> None:
        """Read an escape or expansion where wildcards and blanks are literal."""
        char = self.text[self.pos]
        if char == "$":
            self._dollar(parts, True)
        elif char == "`":
            self._backquoted(parts, True)
        else:
            following = self.text[self.pos + 1 : self.pos + 2]
            if following in escapable and following:
                parts.append(Text(following, True))
                self.pos += 2
            elif following == "\n":
                self.pos += 2
            else:
                parts.append(Text("\\", True))
                self.pos += 1

    def body(self) -> tuple[Part, ...]:
        """Read the whole text as the body of a here-document with an unquoted delimiter."""
        parts: list[Part] = []
        while self.pos < len(self.text):
            run = _IN_BODY.match(self.text, self.pos)
            if run is not None:
                parts.append(Text(run[0], True))
                self.pos = run.end()
            else:
                self._within(parts, "$`\\")
        return tuple(parts)

    def _dollar(self, parts: list[Part], quoted: bool) -> None:
        text, pos = self.text, self.pos
        following = text[pos + 1 : pos + 2]
        if following == "(":
            if text.startswith("(", pos + 2) and self.is_sum(pos + 1):
                self.pos += 3
                parts.append(self.sum("))"))
            else:
                self.pos += 2
                parts.append(Output(self._closed(")"), quoted))
        elif following == "{":
            self._braces(parts, quoted)
        elif following == "[":
            self.pos += 2
            parts.append(self.sum("]"))
        elif following == "'" and not quoted:
            self._ansi(parts)
        elif following == '"' and not quoted:
            self.pos += 2
            self._double(parts)
        else:
            name = _NAME.match(text, pos + 1)
            if name is not None:
                parts.append(Parameter(name[0], quoted=quoted))
                self.pos = name.end()
            elif following and following in "@*#?$!-0123456789":
                parts.append(Parameter(following, quoted=quoted))
                self.pos += 2
            else:
                parts.append(Text("$", quoted))
                self.pos += 1

    def _closed(self, end: str) -> Script:
        script = self.script_until(frozenset({end}))
        self.pos += len(end)
        return script

    def _ansi(self, parts: list[Part]) -> None:
        found = _ANSI.match(self.text, self.pos + 2)
        if found is None or not self.text.startswith("'", found.end()):
            raise LexerError("a quote is not closed")
        if "\\'" in found[0]:
            self.problems.append(SyntaxProblem("shells do not agree where this quote ends", f"$'{found[0]}'"))
        parts.append(Text(unescape(found[0]), True))
        self.pos = found.end() + 1

    def _backquoted(self, parts: list[Part], quoted: bool) -> None:
        found = _BACKQUOTED.match(self.text, self.pos + 1)
        if found is None or not self.text.startswith("`", found.end()):
            raise LexerError("a backquote is not closed")
        escapes = r'\\([$`\\"])' if quoted else r"\\([$`\\])"
        parts.append(Output(self.script_of(re.sub(escapes, r"\1", found[0])), quoted))
        self.pos = found.end() + 1

    def is_sum(self, pos: int) -> bool:
        """Return whether the two parentheses here close together, as in arithmetic."""
        level, last = 0, -1
        for found in _PARENTHESIS.finditer(self.text, pos):
            level += 1 if found[0] == "(" else -1
            if level == 0:
                return last == found.start() - 1
            last = found.start() if found[0] == ")" and level == 1 else -1
        return False

    def sum(self, end: str, shows: bool = True) -> ArithmeticExpansion:
        """Read arithmetic up to `end` and consume the end."""
        self.deeper()
        parts: list[Part] = []
        level = 0
        while level or not self.text.startswith(end, self.pos):
            if self.pos >= len(self.text):
                raise LexerError("arithmetic is not closed")
            char = self.text[self.pos]
            if char in "\\$`":
                self._within(parts, '$`"\\')
                continue
            run = _IN_SUM.match(self.text, self.pos)
            piece = run[0] if run is not None else char
            level += (piece == "(") - (piece == ")")
            if level < 0:
                raise LexerError("parentheses do not match")
            parts.append(Text(piece, True))
            self.pos += len(piece)
        self.pos += len(end)
        self.depth -= 1
        return ArithmeticExpansion(tuple(parts), shows)

    def _braces(self, parts: list[Part], quoted: bool) -> None:
        """Read `${...}`."""
        self.deeper()
        text = self.text
        self.pos += 2
        prefix = ""
        if _PREFIXED.match(text, self.pos):  # a length, or an indirect reference
            prefix = LENGTH if text[self.pos] == "#" else "!"
            self.pos += 1
        name = _PARAMETER.match(text, self.pos)
        if name is None:
            raise LexerError("an expansion is not understood")
        self.pos = name.end()
        index = self._index(parts)
        operator = prefix
        argument: tuple[Part, ...] = ()
        if not text.startswith("}", self.pos):
            found = _OPERATOR.match(text, self.pos)
            if found is None:
                operator = "!" if prefix == "!" and text[self.pos : self.pos + 1] in ("*", "@") else ""
                if not operator:
                    raise LexerError("an expansion is not understood")
                index = ANY
                self.pos += 1
            else:
                self.pos = found.end()
                operator = prefix + found[0]
            argument = self._argument(quoted and found is not None and found[0][-1] in "-=?+")
        if not text.startswith("}", self.pos):
            raise LexerError("a brace is not closed")
        self.pos += 1
        self.depth -= 1
        parts.append(Parameter(name[0], operator, argument, index, quoted))

    def _index(self, parts: list[Part]) -> str:
        if not self.text.startswith("[", self.pos):
            return ""
        found = _INDEX.match(self.text, self.pos)
        if found is not None:
            self.pos = found.end()
            return found[1]
        self.pos += 1
        parts.append(self.sum("]", shows=False))
        return ANY

    def _argument(self, quoted: bool) -> tuple[Part, ...]:
        """Read the operator's argument up to the closing brace."""
        parts: list[Part] = []
        text, start = self.text, self.pos
        while self.pos < len(text) and text[self.pos] != "}":
            char = text[self.pos]
            run = _IN_BRACES.match(text, self.pos)
            if run is not None:
                value = run[0]
                parts.append(Text(expand_tilde(value, self.pos == start) if "~" in value else value, quoted))
                self.pos = run.end()
            elif char in _ENDS_WORD or char == "{" or (quoted and char in "'*?["):
                parts.append(Text(char, quoted))
                self.pos += 1
            elif quoted and char in "\\$`":
                self._within(parts, '$`"\\}')
            else:
                self._piece(char, parts, False)
        return tuple(parts)


def expand_tilde(value: str, first: bool) -> str:
    """Replace `~` in unquoted text by markers; `first` says whether the text begins its word."""

    def place(found: re.Match[str]) -> str:
        if not found[1] and not first:
            return found[0]
        return found[1] + {"+": HERE, "-": ANY}.get(found[2], HOME)

    return _TILDE.sub(place, value)


def unescape(text: str, zero: bool = False) -> str:
    """Decode the inside of `$'...'`. Like the shell, ignore everything after a NUL.

    With `zero`, octal numbers have a zero before their three digits, as in `echo -e` and `printf %b`.
    """
    if zero:
        text = _ZERO.sub(r"\\\1", text)
    if "\\" not in text:
        return text

    def decoded(found: re.Match[str]) -> str:
        escape = found[1]
        first = escape[0]
        if first in "xuU" and len(escape) > 1:
            return _character(int(escape[1:], 16))
        if first in "01234567":
            return _character(int(escape, 8) & 0xFF)
        if first == "c" and len(escape) > 1:
            return _character(ord(escape[1]) & 0x1F)
        return _NAMED_ESCAPES.get(escape, escape if escape in "\\'\"?" else "\\" + escape)

    return _ESCAPE.sub(decoded, text).split(ANY)[0]


def _character(code: int) -> str:
    if 0 < code < 5 or 0xD800 <= code < 0xE000 or code > 0x10FFFF:
        return "\ufffd"  # would be mistaken for a marker, or is not a character
    return chr(code)
