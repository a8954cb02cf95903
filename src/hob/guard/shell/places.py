"""Classification of paths: root, system directory, home, workspace, build output, device.

Paths are compared as written; symbolic links are the sandbox's concern.
"""

import re
from enum import StrEnum
from fnmatch import fnmatchcase

from hob.guard.shell.arguments import ANY, HERE, HOME, ONE, STAR, join_path, may_be, words

_SYSTEM = frozenset(
    words("""bin boot dev etc home lib lib32 lib64 libx32 lost+found media mnt nix opt proc root run sbin snap srv
    sys usr var Applications Library System Users Volumes private cores""")
)
_SYSTEM_PARENTS = frozenset(
    {"usr", "var", "lib", "boot", "System", "Library", "private", "etc", "nix", "opt", "sys", "run", "proc"}
)
_HARMLESS_DEVICES = frozenset(
    words("null zero full random urandom tty stdin stdout stderr fd ptmx pts shm console tcp udp")
)
_BUILD_OUTPUTS = frozenset(
    words("""build dist target out node_modules bower_components __pycache__ .pytest_cache .mypy_cache .ruff_cache
    .tox .nox .venv venv env .eggs .cache .parcel-cache .turbo .next .nuxt .svelte-kit .angular .gradle .terraform
    coverage htmlcov .nyc_output .coverage coverage.xml .hypothesis _build site .output .vite tmp temp obj CMakeFiles
    cmake-build-debug cmake-build-release .pnpm-store .ipynb_checkpoints storybook-static test-results
    playwright-report .dart_tool .build DerivedData .DS_Store .bundle .sass-cache result""")
)
_BUILD_FILES = words("""*.pyc *.pyo *.o *.obj *.a *.class *.log *.tmp *.swp *.swo *~ *.egg-info *.orig *.rej *.bak
.coverage.* *.gcda *.gcno *.profraw *.tsbuildinfo cmake-build-* *.whl""")
_HISTORY = frozenset({".git", ".hg", ".svn", ".jj", ".bzr"})
_EVERYTHING = frozenset(
    {STAR, f".{STAR}", f".{ONE}{STAR}", f"{STAR}.{STAR}", f"{ONE}{STAR}", f"{STAR}{ONE}", f"..{ONE}{STAR}"}
)
_HOME_PATH = re.compile(r"/(?:home|Users)/[^/]+|/root(?![^/])")


class ShellPlace(StrEnum):
    """Kinds of places, as far as they matter for deleting and writing."""

    ROOT = "the root of the file system"
    SYSTEM = "a system directory"
    HOME = "a home directory"
    ABOVE = "a directory above the workspace"
    WORKSPACE = "the whole workspace"
    HISTORY = "version control's own files"
    BUILT = "a build output"
    INSIDE = "part of the workspace"
    TEMPORARY = "a temporary file"
    DEVICE = "a device"
    STREAM = "no file"
    KERNEL = "a control file of the kernel"
    OUTSIDE = "outside of the workspace"
    UNKNOWN = "a place that is not known"


CRITICAL_PLACES = frozenset({ShellPlace.ROOT, ShellPlace.SYSTEM, ShellPlace.HOME, ShellPlace.ABOVE})
HARMLESS_PLACES = frozenset({ShellPlace.BUILT, ShellPlace.INSIDE, ShellPlace.TEMPORARY, ShellPlace.STREAM})


class PathResolver:
    """Resolves and classifies paths for one workspace and home."""

    def __init__(self, cwd: str, workspace: str, home: str = "") -> None:
        self.cwd = cwd
        self.workspace = workspace.rstrip("/") or "/"
        found = _HOME_PATH.match(workspace) or _HOME_PATH.match(cwd)
        self.home = home.rstrip("/") or (found[0] if found is not None else "")

    def resolve(self, path: str, directory: str) -> str:
        """Return the path from the root or from HOME, without `.` and `..`; it begins with ANY if that is unknown."""
        whole = join_path(directory, path)
        if whole[:1] == HERE:
            whole = self.cwd + whole[1:]
        if self.home and (whole == self.home or whole.startswith(self.home + "/")):
            whole = HOME + whole[len(self.home) :]
        elif (found := _HOME_PATH.match(whole)) and not self._within(whole):
            whole = HOME + whole[found.end() :]
        if whole[:1] not in ("/", HOME):
            return ANY
        begin, rest = (HOME, whole[1:]) if whole[0] == HOME else ("", whole)
        kept: list[str] = []
        for part in rest.split("/"):
            if part == "..":
                if kept:
                    kept.pop()
                elif begin:  # above the home
                    begin = ""
                    kept = self.home.split("/")[1:-1] if self.home else ["home"]
            elif part not in ("", "."):
                kept.append(part)
        return "/".join((begin, *kept)) or "/"

    def _within(self, path: str) -> bool:
        return path == self.workspace or path.startswith(self.workspace + "/")

    def _absolute(self, path: str) -> str:
        return self.home + path[1:] if path[0] == HOME and self.home else path

    def place(self, path: str, directory: str) -> ShellPlace:
        """Classify the path."""
        found = self.resolve(path, directory)
        if found[0] == ANY:
            return ShellPlace.UNKNOWN
        parts = found.split("/")
        everything = parts[-1] in _EVERYTHING
        if everything:
            parts.pop()
            found = "/".join(parts) or "/"
        absolute = self._absolute(found)
        if absolute != "/" and self._within(absolute):
            return self._inside(absolute[len(self.workspace) :], everything)
        if self.workspace.startswith(absolute.rstrip("/") + "/"):
            return ShellPlace.HOME if found == HOME else ShellPlace.ROOT if absolute == "/" else ShellPlace.ABOVE
        return self._outside(found, parts)

    def _inside(self, path: str, everything: bool) -> ShellPlace:
        parts = [part for part in path.split("/") if part]
        if not parts:
            return ShellPlace.WORKSPACE
        if _HISTORY & set(parts):
            return ShellPlace.HISTORY
        if any(ANY in part for part in parts):
            return ShellPlace.UNKNOWN
        if _BUILD_OUTPUTS & set(parts):
            return ShellPlace.BUILT
        last = parts[-1].replace(STAR, "x").replace(ONE, "x")
        if not everything and any(fnmatchcase(last, pattern) for pattern in _BUILD_FILES):
            return ShellPlace.BUILT
        if any(may_be(part, name) for part in parts if part not in _EVERYTHING for name in _HISTORY):
            return ShellPlace.HISTORY
        return ShellPlace.INSIDE

    def _outside(self, found: str, parts: list[str]) -> ShellPlace:
        if found[0] == HOME:
            return ShellPlace.HOME if len(parts) == 1 else ShellPlace.OUTSIDE
        names = parts[1:] if found != "/" else []
        if not names or names[0] == "":
            return ShellPlace.ROOT
        first = names[0]
        if first == "dev" and len(names) > 1:
            return ShellPlace.STREAM if names[1] in _HARMLESS_DEVICES else ShellPlace.DEVICE
        if first in ("proc", "sys") and len(names) > 1 and not (first == "proc" and names[1] == "self"):
            return ShellPlace.KERNEL
        if first == "tmp" or names[:2] == ["var", "tmp"]:
            depth = 1 if first == "tmp" else 2
            return ShellPlace.TEMPORARY if len(names) > depth and ANY not in found[:5] else ShellPlace.OUTSIDE
        if len(names) == 1:
            return ShellPlace.SYSTEM if any(may_be(first, each) for each in _SYSTEM) else ShellPlace.OUTSIDE
        if len(names) == 2 and (first in _SYSTEM_PARENTS or may_be(first, "usr")):
            return ShellPlace.SYSTEM
        if len(names) == 2 and any(may_be(first, each) for each in ("home", "Users")):
            return ShellPlace.HOME
        return ShellPlace.OUTSIDE
