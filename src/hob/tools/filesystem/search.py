"""The search program: a separate process with a time limit and a maximum file size.

The folder is passed as a descriptor and everything else as one JSON object on standard input. Each hit is written at
once as a line of JSON, `[path, line, text, whether it matches or surrounds a match]`, so that nothing is lost at the
time limit. Files larger than `LARGEST_SEARCHED` are skipped.
"""

import json
import os
import re
import signal
import sys
from collections.abc import Iterator
from functools import cache, partial

from hob.core.values import dataclass
from hob.tools.documents.text import decode
from hob.tools.filesystem.directory_walk import DirectoryWalk, files_of, is_beneath
from hob.tools.filesystem.globs import Glob
from hob.tools.filesystem.ignore_rules import read_rules

LARGEST_SEARCHED = 10 << 20
"""Maximum bytes of a searched file."""

BAD_PATTERN = 2
"""Exit status if the pattern is not a regular expression."""

LONGEST = 400
"""Maximum characters shown of a line."""


@dataclass(frozen=True, slots=True)
class FileSearch:
    """A search, either beneath a folder's descriptor or in the single file called `name`.

    A file must match all `globs`. `rules` are the texts of `.gitignore` files, each with the number of parts of `above`
    it applies to. `closed` are real paths skipped under any name (including hard links); `secret` is a pattern of names
    to skip.
    """

    descriptor: int
    path: str
    pattern: str
    seconds: float
    name: str = ""
    literal: bool = False
    context: int = 0
    first_only: bool = False
    globs: tuple[str, ...] = ()
    everything: bool = False
    rules: tuple[tuple[str, int], ...] = ()
    above: tuple[str, ...] = ()
    closed: tuple[str, ...] = ()
    secret: str = ""


def main() -> int:
    """Search and print the hits; return the exit status."""
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)  # ends the process even during a match, unlike an exception
    search = FileSearch(**json.load(sys.stdin))
    signal.setitimer(signal.ITIMER_REAL, search.seconds)
    try:
        expression = re.compile(re.escape(search.pattern) if search.literal else search.pattern)
    except (re.error, RecursionError, OverflowError) as error:
        sys.stderr.write(str(error))
        return BAD_PATTERN
    for path, text in _files(search):
        for number, line, fits in find_lines(text, expression, search.context):
            sys.stdout.write(json.dumps([path, number, line[:LONGEST], fits]) + "\n")
            if search.first_only:
                break
        sys.stdout.flush()
    return 0


def find_lines(text: str, expression: re.Pattern[str], context: int) -> Iterator[tuple[int, str, bool]]:
    """Yield the matching lines of a text and the lines around them, each once."""
    lines = text.split("\n")
    if lines and not lines[-1]:
        lines.pop()
    done = 0  # number of lines already yielded
    waiting = 0  # number of lines still to yield after the last match
    for n, line in enumerate(lines):
        if expression.search(line.removesuffix("\r")):
            for before in range(max(done, n - context), n):
                yield before + 1, lines[before], False
            yield n + 1, line, True
            done, waiting = n + 1, context
        elif waiting:
            yield n + 1, line, False
            done, waiting = n + 1, waiting - 1


def _files(search: FileSearch) -> Iterator[tuple[str, str]]:
    """Yield names and texts of the files to search."""
    if search.name:
        text = _text(os.pread(search.descriptor, LARGEST_SEARCHED + 1, 0))
        if text is not None:
            yield search.name, text
        return
    globs = [Glob(pattern) for pattern in search.globs]
    rules = tuple(rule for text, depth in search.rules for rule in read_rules(text, depth))
    walk = DirectoryWalk(
        search.path, partial(is_beneath, search.closed), search.everything, rules, above=tuple(search.above)
    )
    closed = cache(lambda: set(files_of(search.closed)))
    secret = re.compile(search.secret or r"(?!)")
    for entry in walk.entries(search.descriptor):
        if secret.fullmatch(entry.name):
            continue
        if not entry.is_folder and not entry.is_link and all(glob.matches(entry.parts) for glob in globs):
            data = entry.read(
                LARGEST_SEARCHED, lambda seen: seen.st_nlink < 2 or (seen.st_dev, seen.st_ino) not in closed()
            )
            if data is not None and (text := _text(data)) is not None:
                yield "/".join(entry.parts), text


def _text(data: bytes) -> str | None:
    found = decode(data) if len(data) <= LARGEST_SEARCHED else None
    return None if found is None else found.shown


if __name__ == "__main__":
    sys.exit(main())
