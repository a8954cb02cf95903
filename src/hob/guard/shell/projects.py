"""Files that a program runs although the command does not name them, or names them in another way than by path."""

from collections.abc import Iterator

from hob.guard.shell.arguments import Args, operands, values
from hob.guard.shell.values import words

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
