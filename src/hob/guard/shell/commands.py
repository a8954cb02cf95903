"""What was understood of a shell text, as values."""

from collections.abc import Iterator
from typing import NamedTuple

from hob.core.values import dataclass
from hob.guard.shell.arguments import ANY, Args, operands, shown, values, words
from hob.guard.shell.tree import SyntaxProblem

# Files that a program runs although the command does not name them, or names them in another way than by path.

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
    """The files, relative to the directory in which it runs; whether they are there is not looked at."""
    if name.startswith("python") and "-m" in args[:-1]:
        at = args.index("-m") + 1
        module = args[at].replace(".", "/")
        yield from (f"{module}.py", f"{module}/__main__.py", f"{module}/__init__.py")
        name, args = args[at], args[at + 1 :]
    folders = tuple(values(args, *_FOLDER))
    for file in _BESIDE.get(name, ()):
        yield from (f"{folder}/{file}" for folder in folders) if folders else (file,)
    if name in _NAMING:
        yield from (each.partition("::")[0] for each in operands(args))


class Redirection(NamedTuple):
    """Where a descriptor leads. For here-documents and here-strings `target` is their text."""

    operator: str
    target: str
    descriptor: str = ""


class Code(NamedTuple):
    """A program that stands in the command itself, in another language than the shell's."""

    language: str
    text: str


@dataclass(frozen=True, slots=True)
class Runs:
    """What a program that runs others will run, as far as its arguments say.

    `commands` are argument lists, `shell` texts for a shell with their positional parameters, `code` is in other
    languages, `scripts` are files. `opaque` says why something that will run is not known. Where it `takes_input`, the
    program runs what it reads there, in this `language`.
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
    """One simple command, wherever it stands. In values the signs of `values` mark what is not known.

    `via` is what it stands in (`sudo`, `sh -c`, `$( )`, …), outermost first; `directory` the one it runs in as far as
    the text says; `reads` the variables of the environment that its words expand; `fed_by` the programs that write
    into its input and `stdin` what they write, None where nothing is known to.
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
        """The command for people, as it will run: one argument at most 120 characters."""
        words = [_quoted(shown(arg)) for arg in self.argv]
        named = [f"{name}={_quoted(shown(value))}" for name, value in self.assignments]
        arrows = [f"{at.descriptor}{at.operator}{_quoted(shown(at.target))}" for at in self.redirections]
        return " ".join((*named, *words, *arrows))


@dataclass(frozen=True, slots=True)
class Analysis:
    """A command text as understood.

    `commands` holds every simple command at any depth in the order of the text; `others` those that differ when
    variables have other values than are likely (unset ones being empty, say). `problems` is what was not understood:
    a text with problems is never plain. `executables` and `scripts` are what an approval has to bind, as
    `(path, directory)` with the directory the path is relative to.
    """

    text: str
    commands: tuple[SimpleCommand, ...]
    others: tuple[SimpleCommand, ...] = ()
    problems: tuple[SyntaxProblem, ...] = ()
    bombs: tuple[str, ...] = ()
    functions: tuple[str, ...] = ()

    @property
    def executables(self) -> tuple[str, ...]:
        """The programs named, each once: no builtins, no functions of the text itself."""
        names = (command.argv[0] for command in self._bound if command.argv and command.name not in BUILTINS)
        return tuple(dict.fromkeys(shown(name) for name in names if name not in self.functions))

    @property
    def scripts(self) -> tuple[tuple[str, str], ...]:
        """The files that will be run by an interpreter or as programs, with the directory they are relative to.

        Where something runs that does not stand in the text (`cat FILE | sh`, `sh < FILE`), that is every file which
        any of its commands names, and those of projects (`make`, `npm run`) in any case.
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
            found.update(((shown(name), shown(command.directory)), None) for name in names)
        return tuple(found)

    @property
    def targets(self) -> tuple[tuple[str, str], ...]:
        """The arguments and redirections that may be paths, with the directory they are relative to."""
        found: dict[tuple[str, str], None] = {}
        for command in self._bound:
            words = (*command.argv[1:], *(each.target for each in command.redirections))
            plain = (word for word in words if word and word[0] != "-" and ANY not in word and "\n" not in word)
            found.update(((shown(word), shown(command.directory)), None) for word in plain)
        return tuple(found)

    @property
    def steered(self) -> bool:
        """Whether it sets variables for programs."""
        return any(command.assignments or command.name in _SETTING for command in self._bound)

    @property
    def _bound(self) -> Iterator[SimpleCommand]:
        """The commands whose files can be named; in unlikely readings only where the whole command is known."""
        yield from self.commands
        yield from (command for command in self.others if not any(ANY in arg for arg in command.argv))

    def lines(self) -> tuple[str, ...]:
        """The commands for people, one line each, indented by what they stand in."""
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
