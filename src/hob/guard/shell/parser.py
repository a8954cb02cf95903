"""Shell parser: lists, pipelines, compound commands, here-documents (POSIX.1-2024, XCU 2.9 and 2.10, and bash).

Unparsable parts are reported. The commands before them are kept, because a shell runs a text line by line.
"""

import re

from hob.core.translation.language import translatable
from hob.guard.shell.arguments import ANY
from hob.guard.shell.braces import expand_braces
from hob.guard.shell.lexer import LexerError, ShellLexer
from hob.guard.shell.tree import (
    Assignment,
    Block,
    Function,
    Node,
    Parsed,
    Part,
    Pipeline,
    Redirect,
    Script,
    Simple,
    Step,
    SyntaxProblem,
    Text,
    Word,
)

_BLANK = re.compile(r"(?:[ \t]|\\\n)*(?:#[^\n]*)?")
_RESERVED = re.compile(
    r"(?:if|then|elif|else|fi|while|until|do|done|for|select|case|esac|function|coproc|time|in|[{}!]|\[\[|\]\])"
    r"(?=[ \t\n;&|()<>]|\Z)"
)
_REDIRECT = re.compile(r"(\d+|\{[A-Za-z_]\w*\})?(<<<|<<-|<<|<&|<>|<(?!\()|>>|>\||>&|>(?!\()|&>>|&>)", re.ASCII)
_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)(\[[^\]\n]{0,256}\])?(\+?)=", re.ASCII)
_FUNCTION = re.compile(r"([^ \t\n'\"\\$`;&|<>()=]+)[ \t]*\([ \t]*\)")
_FUNCTION_NAME = re.compile(r"[ \t]+([^ \t\n'\"\\$`;&|<>()]+)[ \t]*(?:\([ \t]*\))?")
_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_COPROCESS = re.compile(r"coproc[ \t]+(?:[A-Za-z_]\w*[ \t]+(?=[({]))?", re.ASCII)
_TIMED = re.compile(r"time(?:[ \t]+-p)?(?=[ \t\n;&|()]|\Z)|!(?=[ \t\n(]|\Z)")
_STOPS = frozenset(";&|)\n")
DECLARING = frozenset({"export", "declare", "local", "readonly", "typeset"})
_NONE: frozenset[str] = frozenset()


def parse(text: str, depth: int = 0) -> Parsed:
    """Parse a text. Never raises; takes time linear in its length."""
    return Parser(text, depth).whole()


class Parser(ShellLexer):
    """A recursive-descent parser of commands."""

    def whole(self) -> Parsed:
        """Parse the whole text."""
        steps: list[Step] = []
        rest = ""
        self._safe = 0
        try:
            self._steps(_NONE, steps)
            if self.pending:
                raise LexerError("a here-document does not begin")
        except LexerError as stuck:
            rest = self.text[self._safe :]
            self.problems.append(SyntaxProblem(stuck.args[0], rest))
        return Parsed(tuple(steps), tuple(self.problems), rest)

    def script_until(self, ends: frozenset[str]) -> Script:
        """Parse commands up to one of the end words, which is not consumed."""
        self.deeper()
        steps: list[Step] = []
        self._steps(ends, steps)
        self.depth -= 1
        return tuple(steps)

    def script_of(self, text: str) -> Script:
        """Parse the commands of another text, one level deeper."""
        self.deeper()
        inner = Parser(text, self.depth)
        parsed = inner.whole()
        self.problems.extend(parsed.problems)
        self.depth -= 1
        return parsed.script

    # lists

    def _steps(self, ends: frozenset[str], steps: list[Step]) -> None:
        """Parse commands up to an end word or the end of the text. Each is appended to `steps` once it is complete."""
        outermost = self.depth == 0 or not ends
        while not self._at_end(ends):
            chain = self._chain()
            steps.extend(chain)
            self._blank()
            if self.text.startswith((";", "\n"), self.pos) and not self.text.startswith((";;", ";&"), self.pos):
                if self.text[self.pos] == ";":
                    self.pos += 1
                else:
                    self._newline()
            elif not chain[-1].background and self.pos < len(self.text) and not self._at_end(ends):
                raise LexerError("a separator between two commands is missing")
            if outermost:
                self._safe = self.pos

    def _at_end(self, ends: frozenset[str]) -> bool:
        self._lines()
        text, pos = self.text, self.pos
        if pos >= len(text):
            if ends:
                raise LexerError(translatable("{word} is missing", word=" or ".join(sorted(ends))))
            return True
        char = text[pos]
        if char == ")":
            if ")" in ends:
                return True
            raise LexerError("a parenthesis is not opened")
        if char in ";&|":
            if ";;" in ends and text.startswith((";;", ";&"), pos):
                return True
            if not text.startswith("&>", pos):
                raise LexerError(translatable("a command is missing before {word}", word=char))
        word = self._reserved()
        if word in ends:
            return True
        if word in {"then", "elif", "else", "fi", "do", "done", "esac", "}", "in", "]]"} and word != "in":
            raise LexerError(translatable("{word} stands where a command should", word=word))
        return False

    def _chain(self) -> list[Step]:
        """Parse pipelines joined by `&&` and `||`, and a final `&`."""
        joined, found = ";", []
        while True:
            found.append((self._pipeline(), joined))
            self._blank()
            joined = self.text[self.pos : self.pos + 2]
            if joined not in ("&&", "||"):
                break
            self.pos += 2
            self._lines()
        background = joined[:1] == "&" and joined != "&>"
        if background:
            self.pos += 1
        return [Step(pipeline, how, background) for pipeline, how in found]

    def _pipeline(self) -> Pipeline:
        start = self.pos
        while (found := _TIMED.match(self.text, self.pos)) is not None:
            self.pos = found.end()
            self._blank()
            if self.pos >= len(self.text) or self.text[self.pos] in _STOPS:
                return Pipeline((), self._since(start))
        stages = [self._command()]
        while True:
            self._blank()
            if not self.text.startswith("|", self.pos) or self.text.startswith("||", self.pos):
                break
            self.pos += 2 if self.text.startswith("|&", self.pos) else 1
            self._lines()
            stages.append(self._command())
        return Pipeline(tuple(stages), self._since(start))

    # commands

    def _command(self) -> Node:
        text, pos = self.text, self.pos
        if text.startswith("(", pos):
            if text.startswith("((", pos) and self.is_sum(pos):
                self.pos += 2
                return self._block("arithmetic", pos, (), (Word((self.sum("))"),), ""),))
            self.pos += 1
            return self._block("subshell", pos, (self._enclosed(")"),))
        word = self._reserved()
        if word:
            return self._compound(word)
        found = _FUNCTION.match(text, pos)
        if found is not None:
            self.pos = found.end()
            return self._function(found[1], pos)
        return self._simple()

    def _compound(self, word: str) -> Node:
        start = self.pos
        self.pos += len(word)
        match word:
            case "{":
                return self._block("group", start, (self._enclosed("}"),))
            case "if":
                return self._block("if", start, self._branches())
            case "while" | "until":
                test = self._enclosed("do")
                return self._block(word, start, (test, self._enclosed("done")))
            case "for" | "select":
                return self._for(word, start)
            case "case":
                return self._case(start)
            case "[[":
                return self._test(start)
            case "function":
                found = _FUNCTION_NAME.match(self.text, self.pos)
                if found is None:
                    raise LexerError("a function has no name")
                self.pos = found.end()
                return self._function(found[1], start)
            case "coproc":
                self.pos = start
                found = _COPROCESS.match(self.text, self.pos)
                if found is None:
                    raise LexerError("a command is missing after coproc")
                self.pos = found.end()
                return self._command()
        if word == "in":
            self.pos = start
            return self._simple()
        raise LexerError(translatable("{word} stands where a command should", word=word))

    def _enclosed(self, end: str) -> Script:
        script = self.script_until(frozenset({end}))
        self.pos += len(end)
        return script

    def _branches(self) -> tuple[Script, ...]:
        """Parse the branches of an `if`: test and body in turn, then the body of `else` if there is one."""
        scripts = [self._enclosed("then")]
        while True:
            scripts.append(self.script_until(frozenset({"elif", "else", "fi"})))
            word = self._reserved()
            self.pos += len(word)
            if word == "fi":
                return tuple(scripts)
            scripts.append(self._enclosed("then" if word == "elif" else "fi"))
            if word == "else":
                return tuple(scripts)

    def _for(self, kind: str, start: int) -> Node:
        self._blank()
        name, words = "", []
        if self.text.startswith("((", self.pos):
            self.pos += 2
            words.append(Word((self.sum("))", shows=False),), ""))
        else:
            found = _NAME.match(self.text, self.pos)
            if found is None:
                raise LexerError("a loop has no variable")
            name, self.pos = found[0], found.end()
            self._lines()
            if self._reserved() == "in":
                self.pos += 2
                words = self._words()
            else:
                words.append(Word((Text(ANY),), '"$@"'))
        self._blank()
        if self.text.startswith(";", self.pos):
            self.pos += 1
        self._lines()
        opening = self._reserved()
        if opening not in ("do", "{"):
            raise LexerError("do is missing")
        self.pos += len(opening)
        body = self._enclosed("done" if opening == "do" else "}")
        return self._block(kind, start, (body,), tuple(words), name)

    def _case(self, start: int) -> Node:
        self._blank()
        words = [self.word()]
        self._lines()
        if self._reserved() != "in":
            raise LexerError("in is missing")
        self.pos += 2
        scripts: list[Script] = []
        while True:
            self._lines()
            if self._reserved() == "esac":
                self.pos += 4
                return self._block("case", start, tuple(scripts), tuple(words))
            if self.text.startswith("(", self.pos):
                self.pos += 1
            while not self.text.startswith(")", self.pos):
                self._blank()
                before = self.pos
                words.append(self.word())
                self._blank()
                if self.text.startswith("|", self.pos):
                    self.pos += 1
                elif self.pos == before or not self.text.startswith(")", self.pos):
                    raise LexerError("a pattern is not closed")
            self.pos += 1
            scripts.append(self.script_until(frozenset({";;", "esac"})))
            for end in (";;&", ";;", ";&"):
                if self.text.startswith(end, self.pos):
                    self.pos += len(end)
                    break

    def _test(self, start: int) -> Node:
        """Parse `[[ ... ]]` for the expansions in it."""
        words: list[Word] = []
        while True:
            self._lines()
            if self.pos >= len(self.text):
                raise LexerError("]] is missing")
            if self._reserved() == "]]":
                self.pos += 2
                return self._block("test", start, (), tuple(words))
            if self.text[self.pos] in "()|&;<>":
                self.pos += 1
            else:
                words.append(self.word())

    def _function(self, name: str, start: int) -> Node:
        self.deeper()
        self._lines()
        body = self._command()
        self.depth -= 1
        return Function(name, body, self._since(start))

    def _block(
        self, kind: str, start: int, scripts: tuple[Script, ...], words: tuple[Word, ...] = (), name: str = ""
    ) -> Block:
        redirects: list[Redirect] = []
        while True:
            self._blank()
            found = _REDIRECT.match(self.text, self.pos)
            if found is None:
                return Block(kind, scripts, words, name, tuple(redirects), self._since(start))
            redirects.append(self._redirect(found))

    def _simple(self) -> Simple:
        text, start = self.text, self.pos
        words: list[Word] = []
        assignments: list[Assignment] = []
        redirects: list[Redirect] = []
        declares = True  # so do the words before the command name
        while True:
            self._blank()
            pos = self.pos
            if pos >= len(text):
                break
            char = text[pos]
            if char in "<>&0123456789{" and (found := _REDIRECT.match(text, pos)) is not None:
                redirects.append(self._redirect(found))
                continue
            if char in _STOPS:
                break
            if declares and (found := _ASSIGNMENT.match(text, pos)) is not None:
                assignments.append(self._assignment(found))
                continue
            word = self.word()
            if self.pos == pos:
                raise LexerError(translatable("{word} stands where a word should", word=char))
            if not words:
                declares = word.literal in DECLARING
            if self.braced:
                words.extend(expand_braces(word))
            else:
                words.append(word)
        if not (words or assignments or redirects):
            raise LexerError("a command is missing")
        return Simple(tuple(words), tuple(assignments), tuple(redirects), self._since(start))

    def _assignment(self, found: re.Match[str]) -> Assignment:
        self.pos = found.end()
        appends = bool(found[3])
        if found[2] and any(char in found[2] for char in "$`"):
            self.problems.append(SyntaxProblem("an index runs something", found[0]))
        if self.text.startswith("(", self.pos):
            self.pos += 1
            items = self._words(")")
            self.pos += 1
            return Assignment(found[1], None, tuple(items), appends)
        value = self.word() if self.pos < len(self.text) else Word((), "")
        return Assignment(found[1], value, None, appends or bool(found[2]))

    def _words(self, end: str = "") -> list[Word]:
        """Read the words up to an end word or the end of the line."""
        words: list[Word] = []
        while True:
            self._lines() if end else self._blank()
            if self.pos >= len(self.text):
                if end:
                    raise LexerError(translatable("{word} is missing", word=end))
                return words
            if self.text.startswith(end, self.pos) if end else self.text[self.pos] in ";\n":
                return words
            before = self.pos
            word = self.word()
            if self.pos == before:
                raise LexerError(translatable("{word} stands where a word should", word=self.text[before]))
            words.extend(expand_braces(word) if self.braced else [word])

    def _redirect(self, found: re.Match[str]) -> Redirect:
        self.pos = found.end()
        self._blank()
        before = self.pos
        target = self.word()
        if self.pos == before:
            raise LexerError("a redirection leads nowhere")
        redirect = Redirect(found[2], target, found[1] or "")
        if found[2] in ("<<", "<<-"):
            quoted = any(char in target.text for char in "'\"\\")
            end = target.text if not quoted else "".join(part.value for part in target.parts if type(part) is Text)
            self.pending.append((redirect, end, quoted, found[2] == "<<-"))
        return redirect

    # lines

    def _bodies(self) -> None:
        """Read the here-documents of the line that has just ended."""
        pending, self.pending = self.pending, []
        for redirect, end, quoted, tabs in pending:
            lines: list[str] = []
            while True:
                if self.pos >= len(self.text):
                    self.problems.append(SyntaxProblem("a here-document has no end", redirect.target.text))
                    break
                until = self.text.find("\n", self.pos)
                until = len(self.text) if until < 0 else until
                line = self.text[self.pos : until]
                self.pos = min(until + 1, len(self.text))
                if tabs:
                    line = line.lstrip("\t")
                if line == end:
                    break
                lines.append(line + "\n")
            body = "".join(lines)
            redirect.body = (Text(body, True),) if quoted else self._expanding(body)

    def _expanding(self, body: str) -> tuple[Part, ...]:
        self.deeper()
        inner = Parser(body, self.depth)
        parts = inner.body()
        self.problems.extend(inner.problems)
        self.depth -= 1
        return parts

    def _newline(self) -> None:
        self.pos += 1
        if self.pending:
            self._bodies()

    def _blank(self) -> None:
        found = _BLANK.match(self.text, self.pos)
        if found is not None:
            self.pos = found.end()

    def _lines(self) -> None:
        """Skip blanks, comments and newlines."""
        while True:
            self._blank()
            if not self.text.startswith("\n", self.pos):
                return
            self._newline()

    def _reserved(self) -> str:
        found = _RESERVED.match(self.text, self.pos)
        return found[0] if found is not None else ""

    def _since(self, start: int) -> str:
        return self.text[start : self.pos].strip()
