"""Results of the analysis as values."""

from collections.abc import Iterator
from typing import NamedTuple

from hob.core.values import dataclass
from hob.guard.shell.arguments import ANY, Args, display, operands, option_values, words
from hob.guard.shell.tree import SyntaxProblem

# Files that a program runs although the command does not name them, or not by path.

_BESIDE = {
    **dict.fromkeys(("make", "gmake"), words("GNUmakefile makefile Makefile")),
    "bmake": words("BSDmakefile makefile Makefile"),
    "just": words("justfile Justfile .justfile"),
    "task": words("Taskfile.yml Taskfile.yaml"),
    "rake": words("Rakefile rakefile Rakefile.rb"),
    "ninja": words("build.ninja"),
    "meson": words("meson.build"),
    "cmake": words("CMakeLists.txt CMakePresets.json"),
    "ant": words("build.xml"),
    "mvn": words("pom.xml"),
    "gradle": words("build.gradle build.gradle.kts settings.gradle"),
    "cargo": words("Cargo.toml build.rs .cargo/config.toml"),
    "composer": words("composer.json"),
    **dict.fromkeys(("npm", "pnpm", "yarn", "bun"), words("package.json .npmrc")),
    **dict.fromkeys(("pytest", "py.test"), words("conftest.py pytest.ini pyproject.toml tox.ini setup.cfg")),
    "tox": words("tox.ini pyproject.toml setup.cfg"),
    "nox": words("noxfile.py"),
    "pre-commit": words(".pre-commit-config.yaml"),
    **dict.fromkeys(("pip", "pip3"), words("setup.py setup.cfg pyproject.toml")),
}
_FOLDER = ("-C", "--directory", "--prefix", "--cwd", "--dir")
_NAMING = frozenset({"pytest", "py.test", "gradle", "cmake"})


def project_files(name: str, args: Args) -> Iterator[str]:
    """Yield the files relative to the working directory, whether or not they exist."""
    if name.startswith("python") and "-m" in args[:-1]:
        at = args.index("-m") + 1
        module = args[at].replace(".", "/")
        yield from (f"{module}.py", f"{module}/__main__.py", f"{module}/__init__.py")
        name, args = args[at], args[at + 1 :]
    folders = tuple(option_values(args, *_FOLDER))
    for file in _BESIDE.get(name, ()):
        yield from (f"{folder}/{file}" for folder in folders) if folders else (file,)
    if name in _NAMING:
        yield from (each.partition("::")[0] for each in operands(args))


class Redirection(NamedTuple):
    """The target of a file descriptor. For here-documents and here-strings, `target` is their text."""

    operator: str
    target: str
    descriptor: str = ""


class Code(NamedTuple):
    """Source code in another language that is part of the command."""

    language: str
    text: str


@dataclass(frozen=True, slots=True)
class Runs:
    """The commands, code and files that a program would run, as far as its arguments tell.

    `commands` are argument lists, `shell` are shell texts with positional parameters, `code` is in other languages,
    `scripts` are files. `opaque` says why part of it is unknown. If `takes_input`, the program runs its standard input,
    which is in `language`.
    """

    commands: tuple[tuple[str, ...], ...] = ()
    shell: tuple[tuple[str, tuple[str, ...]], ...] = ()
    code: tuple[Code, ...] = ()
    scripts: tuple[str, ...] = ()
    opaque: str = ""
    takes_input: bool = False
    language: str = "sh"


NOTHING = Runs()


@dataclass(frozen=True, slots=True)
class SimpleCommand:
    """A simple command at any depth. Markers in values stand for unknown parts (see `arguments`).

    `via` are the enclosing constructs (`sudo`, `sh -c`, `$( )`, …), outermost first. `directory` is the working
    directory as far as the text tells. `reads` are the environment variables that the command expands. `fed_by` are the
    programs that write to its standard input, and `stdin` is their output, or None if there is no known writer.
    """

    name: str
    argv: tuple[str, ...]
    text: str
    directory: str
    via: tuple[str, ...] = ()
    redirections: tuple[Redirection, ...] = ()
    assignments: tuple[tuple[str, str], ...] = ()
    reads: tuple[str, ...] = ()
    fed_by: tuple[str, ...] = ()
    stdin: str | None = None
    runs: Runs = NOTHING
    background: bool = False

    def line(self) -> str:
        """Return the command for display, with arguments cut at 120 characters."""
        words = [_quoted(display(arg)) for arg in self.argv]
        named = [f"{name}={_quoted(display(value))}" for name, value in self.assignments]
        arrows = [f"{at.descriptor}{at.operator}{_quoted(display(at.target))}" for at in self.redirections]
        return " ".join((*named, *words, *arrows))


@dataclass(frozen=True, slots=True)
class Analysis:
    """An analysed command text.

    `commands` are all simple commands at any depth, in text order; `others` are those that differ under less likely
    variable values (for example if unset variables are set). `problems` are parts that were not understood: a text with
    problems is never plain. `executables` and `scripts` are what an approval must bind, as `(path, directory)` with the
    directory that the path is relative to.
    """

    text: str
    commands: tuple[SimpleCommand, ...]
    others: tuple[SimpleCommand, ...] = ()
    problems: tuple[SyntaxProblem, ...] = ()
    bombs: tuple[str, ...] = ()
    functions: tuple[str, ...] = ()

    @property
    def executables(self) -> tuple[str, ...]:
        """The distinct programs, without builtins and the text's own functions."""
        names = (command.argv[0] for command in self._bound if command.argv and command.name not in BUILTINS)
        return tuple(dict.fromkeys(display(name) for name in names if name not in self.functions))

    @property
    def scripts(self) -> tuple[tuple[str, str], ...]:
        """The files that an interpreter runs or that run as programs, with the directory they are relative to.

        If something outside the text runs (`cat FILE | sh`, `sh < FILE`), these are all files that any of its commands
        names. Project files (`make`, `npm run`) are always included.
        """
        found: dict[tuple[str, str], None] = {}
        bound = tuple(self._bound)
        reads = any(command.runs.opaque for command in bound) or any(ANY in each.text for each in self.problems)
        for command in bound:
            names = [*command.runs.scripts, *project_files(command.name, command.argv[1:])]
            if command.argv and "/" in command.argv[0]:
                names.append(command.argv[0])
            if reads:
                names += [each for each in command.argv[1:] if each[:1] != "-" and ANY not in each]
                names += [
                    each.target for each in command.redirections if each.operator == "<" and ANY not in each.target
                ]
            found.update(((display(name), display(command.directory)), None) for name in names)
        return tuple(found)

    @property
    def targets(self) -> tuple[tuple[str, str], ...]:
        """The arguments and redirection targets that may be paths, with the directory they are relative to."""
        found: dict[tuple[str, str], None] = {}
        for command in self._bound:
            words = (*command.argv[1:], *(each.target for each in command.redirections))
            plain = (word for word in words if word and word[0] != "-" and ANY not in word and "\n" not in word)
            found.update(((display(word), display(command.directory)), None) for word in plain)
        return tuple(found)

    @property
    def sets_variables(self) -> bool:
        """Whether the text sets variables for programs."""
        return any(command.assignments or command.name in _SETTING for command in self._bound)

    @property
    def _bound(self) -> Iterator[SimpleCommand]:
        """The commands whose files can be named. Under less likely values, only commands that are fully known."""
        yield from self.commands
        yield from (command for command in self.others if not any(ANY in arg for arg in command.argv))

    def lines(self) -> tuple[str, ...]:
        """Return the commands for display, one line each, indented by nesting."""
        return tuple("  " * len(command.via) + command.line() for command in self.commands)


def _quoted(text: str) -> str:
    cut = text if len(text) <= 120 else text[:117] + "…"
    return (
        cut if cut and not any(char in " \t\n'\"\\;|&<>()" for char in cut) else "'" + cut.replace("'", "'\\''") + "'"
    )


_SETTING = frozenset({"export", "declare", "typeset", "env"})
BUILTINS = frozenset(
    words(""". : [ alias bg bind break builtin caller cd command compgen complete compopt continue declare dirs
    disown echo enable eval exec exit export false fc fg getopts hash help history jobs kill let local logout mapfile
    popd printf pushd pwd read readarray readonly return set shift shopt source suspend test times trap true type
    typeset ulimit umask unalias unset wait""")
)
