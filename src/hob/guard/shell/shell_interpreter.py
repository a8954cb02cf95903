"""From the syntax tree to the simple commands that will run: substitutions, functions, nested programs.

A text is read once for each relevant combination of values: if variables have several possible values, the n-th reading
takes the n-th value of each. One reading takes unset variables as empty, which they are unless the environment sets
them; another takes them as unknown.
"""

import re
from dataclasses import replace

from hob.core.translation.language import translatable
from hob.guard.shell.arguments import ANY, DANGEROUS_PROGRAMS, HOME, cap_length
from hob.guard.shell.builtins import perform
from hob.guard.shell.commands import NOTHING, Code, Redirection, Runs, SimpleCommand
from hob.guard.shell.expansion import CommandInput, Expander, ShellState
from hob.guard.shell.outputs import known_output, written_files
from hob.guard.shell.parser import DECLARING, parse
from hob.guard.shell.recursion import CallGraph, is_endless, starts_itself
from hob.guard.shell.tree import Block, Function, Node, Pipeline, Redirect, Script, Simple, Step, SyntaxProblem
from hob.guard.shell.wrappers import nested_runs

# Fallback for text that cannot be parsed: every run of words is treated as a command, so that nothing hides behind an
# error.

_BETWEEN = re.compile(r"[;|&(){}`\n]+|\$\(|\b(?:then|do|else)\b")
_WORD = re.compile(r"[^\s<>]+")
_MAX = 300
_EXPANSION = re.compile(r"\$\{?[A-Za-z0-9_@*#?!-]+\}?")


def guess_argvs(text: str) -> list[tuple[str, ...]]:
    """Return possible argument lists in the text, ignoring quotes and backslashes."""
    found: list[tuple[str, ...]] = []
    for piece in _BETWEEN.split(text, _MAX):
        plain = _EXPANSION.sub(_expanded, re.sub(r"\\\n|['\"\\]", "", piece))
        words = tuple(HOME + word[1:] if word[0] == "~" else word for word in _WORD.findall(plain))
        if words and len(words) < 200:
            found.append(words)
    return found


def _expanded(found: re.Match[str]) -> str:
    return HOME if found[0] in ("$HOME", "${HOME}") else ANY


_MAX_COMMANDS = 600  # simple commands followed in one reading
_MAX_TEXT = 200_000  # characters of nested texts
_MAX_ITEMS = 12  # values of a loop variable
_DEEPEST = 16  # nesting of commands and texts
_INPUTS = frozenset({"-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"})


class ShellInterpreter(Expander):
    """One reading of a text."""

    def __init__(self, choice: int, unset: str) -> None:
        super().__init__(choice, unset)
        self.commands: list[SimpleCommand] = []
        self.problems: dict[SyntaxProblem, None] = {}
        self.bombs: dict[str, None] = {}
        self.files: dict[str, CommandInput] = {}  # content of files that the text itself writes
        self.calls = CallGraph()
        self.followed: set[str] = set()  # functions called
        self._via: tuple[str, ...] = ()
        self._background = False
        self._depth = 0
        self._text_left = _MAX_TEXT

    def whole(self, text: str) -> None:
        """Follow a text, and the functions that it defines but does not call."""
        self.read(text)
        for name, function in list(self.state.functions.items()):
            if name not in self.followed:
                self.state.positional = None
                self._call(name, function, None)
        self.bombs.update(self.calls.bombs())

    def problem(self, reason: str, text: str) -> None:
        """Record a part that was not understood."""
        self.problems[SyntaxProblem(reason, text)] = None

    # texts and lists

    def read(self, text: str, stdin: CommandInput | None = None, wants_output: bool = False) -> str:
        """Interpret a text in the current state; return its output."""
        self._text_left -= len(text)
        if self._text_left < 0 or self._depth >= _DEEPEST:
            self.problem("there is too much in it to follow", text)
            return ANY
        self._depth += 1
        parsed = parse(text)
        for problem in parsed.problems:
            self.problems[problem] = None
        if ANY in text:
            self.problem("text that is not known runs as commands", text)
        out = self.script(parsed.script, stdin, wants_output)
        if parsed.rest:
            for argv in guess_argvs(parsed.rest):
                self.run(argv, " ".join(argv), stdin)
            out = ANY
        self._depth -= 1
        return out

    def script(self, script: Script, stdin: CommandInput | None, wants_output: bool) -> str:
        """Follow a list of commands; return their output if wanted."""
        out: list[str] = []
        at = 0
        while at < len(script):
            end = at + 1
            while end < len(script) and script[end].joined in ("&&", "||"):
                end += 1
            out.append(self._chain(script[at:end], stdin, wants_output))
            at = end
        return cap_length("".join(out)) if wants_output else ANY

    def _chain(self, chain: Script, stdin: CommandInput | None, wants_output: bool) -> str:
        """Follow commands joined by `&&` and `||`. Any of them may be the last one to run."""
        first = chain[0]
        background, before = self._background, self.state.copy() if first.background else None
        self._background = background or first.background
        out = self._step(first, stdin, wants_output)
        if len(chain) > 1:
            after = self.state.copy()
            self.calls.branches += 1
            for step in chain[1:]:
                if step.joined == "||":  # any command before it may have failed
                    self.state.join(after)
                out += self._step(step, stdin, wants_output)
            self.calls.branches -= 1
            self.state.join(after)
        if before is not None:
            self.state.restore(before)
        self._background = background
        return out

    def _step(self, step: Step, stdin: CommandInput | None, wants_output: bool) -> str:
        stages = step.pipeline.stages
        if len(stages) == 1:
            return self.node(stages[0], stdin, wants_output)
        return self._pipeline(step.pipeline, stdin, wants_output)

    def _pipeline(self, pipeline: Pipeline, stdin: CommandInput | None, wants_output: bool) -> str:
        """Follow commands joined by pipes, each in its own subshell; return the output of the last one."""
        out, feed = ANY, stdin
        self.calls.enter_pipeline(pipeline, self.state.functions)
        for at, stage in enumerate(pipeline.stages):
            before, begun = self.state.copy(), len(self.commands)
            out = self.node(stage, feed, wants_output or at < len(pipeline.stages) - 1)
            before_it = feed.names if feed else ()
            feed = CommandInput(out, tuple(dict.fromkeys((*before_it, *self._names_since(begun)))))
            self.state.restore(before)
        self.calls.leave_pipeline()
        return out

    def capture(self, script: Script) -> CommandInput:
        """Run a substitution in a subshell; return its output."""
        before, begun, via = self.state.copy(), len(self.commands), self._via
        self._via = (*via, "$( )")
        out = self.script(script, None, True)
        self._via = via
        self.state.restore(before)
        return CommandInput(out, self._names_since(begun))

    def _names_since(self, begun: int) -> tuple[str, ...]:
        """Return the names of the commands recorded since `begun`."""
        return tuple(dict.fromkeys(command.name for command in self.commands[begun:] if command.argv))

    # commands

    def node(self, node: Node, stdin: CommandInput | None, wants_output: bool) -> str:
        """Follow one command; return its output."""
        if isinstance(node, Simple):
            return self._simple(node, stdin, wants_output)
        if isinstance(node, Function):
            self.state.functions[node.name] = node
            return ""
        if not node.redirects:
            return self._block(node, stdin, wants_output)
        redirections, feed = self._redirections(node.redirects)
        feed = feed or stdin
        self._record((), node.text, redirections, (), feed, NOTHING)
        begun = len(self.commands)
        out = self._block(node, feed, wants_output or _writes(redirections))
        return self._kept(redirections, CommandInput(out, self._names_since(begun))) if _writes(redirections) else out

    def _block(self, node: Block, stdin: CommandInput | None, wants_output: bool) -> str:
        match node.kind:
            case "group":
                return self.script(node.scripts[0], stdin, wants_output)
            case "subshell":
                before = self.state.copy()
                out = self.script(node.scripts[0], stdin, wants_output)
                self.state.restore(before)
                return out
            case "test" | "arithmetic":
                for word in node.words:
                    self.text(word)
                if node.kind == "arithmetic":  # other shells may read this as two subshells
                    for argv in guess_argvs(node.text):
                        if argv[0] in DANGEROUS_PROGRAMS:
                            self.run(argv, node.text, stdin)
                return ""
        self.calls.branches += 1
        match node.kind:
            case "if":
                out = self._if(node, stdin, wants_output)
            case "case":
                out = self._case(node, stdin, wants_output)
            case "while" | "until":
                out = self._while(node, stdin, wants_output)
            case _:
                out = self._for(node, stdin, wants_output)
        self.calls.branches -= 1
        return out

    def _if(self, node: Block, stdin: CommandInput | None, wants_output: bool) -> str:
        out: list[str] = []
        after: list[ShellState] = []
        scripts = node.scripts
        for at in range(0, len(scripts), 2):
            out.append(self.script(scripts[at], stdin, wants_output))
            if at + 1 == len(scripts):  # else
                break
            tested = self.state.copy()
            out.append(self.script(scripts[at + 1], stdin, wants_output))
            after.append(self.state)
            self.state = tested
        for state in after:
            self.state.join(state)
        return _one_of(out)

    def _case(self, node: Block, stdin: CommandInput | None, wants_output: bool) -> str:
        for word in node.words:
            self.text(word)
        before = self.state.copy()
        out: list[str] = [ANY]
        for script in node.scripts:
            after, self.state = self.state, before.copy()
            out.append(self.script(script, stdin, wants_output))
            self.state.join(after)
        return _one_of(out)

    def _for(self, node: Block, stdin: CommandInput | None, wants_output: bool) -> str:
        if not node.name:  # for ((;;))
            self.text(node.words[0])
            return self._body(node, stdin, wants_output, node.text.split("((")[1].replace(" ", "").startswith(";;"))
        values = [value for word in node.words for value in self.fields(word)]
        if len(values) > _MAX_ITEMS:  # if all are numbers, the last one stands for those left out
            values[_MAX_ITEMS:] = [values[-1] if all(map(str.isdecimal, values)) else ANY]
        out: list[str] = []
        for value in values:
            self.state.assign(node.name, value)
            out.append(self._body(node, stdin, wants_output, False))
        return "".join(out)

    def _while(self, node: Block, stdin: CommandInput | None, wants_output: bool) -> str:
        begun = len(self.commands)
        self.script(node.scripts[0], stdin, False)
        return self._body(node, stdin, wants_output, is_endless(node, self.commands[begun:]))

    def _body(self, node: Block, stdin: CommandInput | None, wants_output: bool, endless: bool) -> str:
        before, begun = self.state.copy(), len(self.commands)
        out = self.script(node.scripts[-1], stdin, wants_output)
        self.state.join(before)
        if endless:
            self.calls.record_loop(node.text, self.commands[begun:])
        return out

    def _simple(self, node: Simple, stdin: CommandInput | None, wants_output: bool) -> str:
        reads, self.reads = self.reads, {}
        argv = tuple([field for word in node.words for field in self.fields(word)])
        assigned = [(item.name, self.assigned(item)) for item in node.assignments]
        redirections, feed = self._redirections(node.redirects) if node.redirects else ((), None)
        feed = feed or stdin
        if node.words and starts_itself(node) and (self._background or self.calls.piped):
            self.bombs[node.text] = None
        lasting = not argv or node.words[0].literal in DECLARING
        before = {name: self.state.variables.get(name) for name, _ in assigned}
        for name, value in assigned:
            self.state.assign(name, value)
        flat = tuple((name, value if isinstance(value, str) else " ".join(value or ())) for name, value in assigned)
        writes = _writes(redirections)
        out = self._run(argv, node.text, feed, wants_output or writes, redirections, flat)
        if not lasting:
            for name, old in before.items():
                if old is None:
                    self.state.variables.pop(name, None)
                else:
                    self.state.variables[name] = old
        self.reads = reads
        return self._kept(redirections, CommandInput(out, argv[:1])) if writes else out

    def run(
        self, argv: tuple[str, ...], text: str, stdin: CommandInput | None, via: str = "", wants_output: bool = False
    ) -> str:
        """Follow a command started by another one; return its output."""
        before = self._via
        if via:
            self._via = (*before, via)
        out = self._run(argv, text, stdin, wants_output, (), ())
        self._via = before
        return out

    def _run(
        self,
        argv: tuple[str, ...],
        text: str,
        stdin: CommandInput | None,
        wants_output: bool,
        redirections: tuple[Redirection, ...],
        assigned: tuple[tuple[str, str], ...],
    ) -> str:
        if not argv:
            self._record(argv, text, redirections, assigned, stdin, NOTHING)
            return ""
        function = self.state.functions.get(argv[0])
        if function is not None or self.calls.is_within(argv[0]):
            if redirections or assigned:
                self._record((), text, redirections, assigned, stdin, NOTHING)
            return self._called(argv, function, stdin, wants_output)
        incoming = None if stdin is None else stdin.text
        runs = nested_runs(argv, incoming)
        if "/" in argv[0] and argv[0].removeprefix("./") in self.files:
            runs = replace(runs, scripts=(argv[0],))
        if runs is not NOTHING:
            runs = self._resolved(runs, stdin)
        self._record(argv, text, redirections, assigned, stdin, runs)
        done = perform(self, argv, stdin)
        if done is not None:
            return done
        for path, content in written_files(argv, incoming).items():
            self.files[path.removeprefix("./")] = CommandInput(content, (argv[0],))
        if runs == NOTHING:
            return known_output(argv, incoming) if wants_output else ANY
        return self._follow(runs, argv, stdin, wants_output)

    def _follow(self, runs: Runs, argv: tuple[str, ...], stdin: CommandInput | None, wants_output: bool) -> str:
        """Follow what the program runs. Return its output if that is the output of a single command."""
        if self._depth >= _DEEPEST:
            raise TooManyCommands
        self._depth += 1
        name = argv[0].rpartition("/")[2]
        out = [self.run(inner, " ".join(inner), stdin, name, wants_output) for inner in runs.commands]
        before, via = self.state.copy(), self._via
        self._via = (*via, name)
        for text, positional in runs.shell:
            self.state.positional = positional[1:]
            if positional:
                self.state.assign("0", positional[0])
            out.append(self.read(text, stdin, wants_output))
            self.state.restore(before)
        self._via = via
        self._depth -= 1
        return out[0] if len(out) == 1 else ANY

    def _resolved(self, runs: Runs, stdin: CommandInput | None) -> Runs:
        """Add the contents of scripts that this text itself has written, or that arrive on standard input."""
        shell, code, scripts = list(runs.shell), list(runs.code), []
        opaque, language = runs.opaque, runs.language
        feeds: list[CommandInput] = []
        for path in runs.scripts:
            if path in _INPUTS:
                feeds.append(stdin or CommandInput(ANY))
            elif path in self.channels:
                feeds.append(self.channels[path])
            elif (found := self.files.get(path.removeprefix("./"))) is not None:
                feeds.append(found)
                scripts.append(path)
            else:
                scripts.append(path)
        if runs.takes_input and stdin is not None:
            feeds.append(stdin)
        for feed in feeds:
            if ANY in feed.text:
                names = " and ".join(feed.names)
                opaque = translatable("it runs what {name} writes", name=names or "another program")
            elif language == "sh":
                shell.append((feed.text, ()))
            else:
                code.append(Code(language, feed.text))
        return replace(runs, shell=tuple(shell), code=tuple(code), scripts=tuple(scripts), opaque=opaque)

    def _called(
        self, argv: tuple[str, ...], function: Function | None, stdin: CommandInput | None, wants_output: bool
    ) -> str:
        name = argv[0]
        self.calls.add(name, self._background)
        if function is None or self.calls.is_within(name):
            return ANY
        positional, self.state.positional = self.state.positional, argv[1:]
        out = self._call(name, function, stdin, wants_output)
        self.state.positional = positional
        return out

    def _call(self, name: str, function: Function, stdin: CommandInput | None, wants_output: bool = False) -> str:
        self.followed.add(name)
        self.calls.enter(name, function.text)
        out = self.node(function.body, stdin, wants_output)
        self.calls.leave()
        return out

    def _record(
        self,
        argv: tuple[str, ...],
        text: str,
        redirections: tuple[Redirection, ...],
        assigned: tuple[tuple[str, str], ...],
        stdin: CommandInput | None,
        runs: Runs,
    ) -> None:
        if len(self.commands) >= _MAX_COMMANDS:
            raise TooManyCommands
        self.commands.append(
            SimpleCommand(
                argv[0].rpartition("/")[2] if argv else "",
                argv,
                text,
                self.directory,
                self._via,
                redirections,
                assigned,
                tuple(self.reads),
                stdin.names if stdin is not None else (),
                stdin.text if stdin is not None else None,
                runs,
                self._background,
            )
        )

    # redirections

    def _redirections(self, redirects: tuple[Redirect, ...]) -> tuple[tuple[Redirection, ...], CommandInput | None]:
        """Return the redirections, and the standard input they set up."""
        found: list[Redirection] = []
        feed: CommandInput | None = None
        for redirect in redirects:
            if redirect.operator in ("<<", "<<-", "<<<"):
                target = self.body(redirect)
                feed = CommandInput(target)
            else:
                target = self.text(redirect.target)
                if redirect.operator == "<" and redirect.descriptor in ("", "0"):
                    feed = self.channels.get(target) or self.files.get(target) or CommandInput(ANY, (target,))
            found.append(Redirection(redirect.operator, target, redirect.descriptor))
        return tuple(found), feed

    def _kept(self, redirections: tuple[Redirection, ...], feed: CommandInput) -> str:
        """Record what is written to files, because it may run later. Returns the remaining output, ""."""
        for redirection in redirections:
            if redirection.operator in (">", ">|", ">>") and redirection.descriptor in ("", "1"):
                old = self.files.get(redirection.target) if redirection.operator == ">>" else None
                text = cap_length((old.text if old else "") + feed.text)
                self.files[redirection.target.removeprefix("./")] = CommandInput(text, feed.names)
        return ""


class TooManyCommands(Exception):
    """Raised when more commands would run than can be followed."""


def _writes(redirections: tuple[Redirection, ...]) -> bool:
    return any(
        each.operator[0] == ">" and each.operator != ">&" and each.descriptor in ("", "1") for each in redirections
    )


def _one_of(out: list[str]) -> str:
    """Merge the outputs of branches. The result is known only if a single branch writes."""
    some = [each for each in out if each]
    return some[0] if len(some) == 1 else ANY if some else ""
