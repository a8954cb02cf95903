"""Files and folders that searches skip: `.git`, and what `.gitignore` excludes, interpreted as git does."""

from collections.abc import Sequence

from hob.core.errors import ToolFailed
from hob.core.values import dataclass
from hob.tools.filesystem.globs import Glob

GITIGNORE = ".gitignore"
LARGEST_IGNORE_FILE = 500_000
"""Maximum bytes read of such a file."""

ALWAYS_SKIPPED = frozenset({".git"})
"""Names of folders that no search or listing enters, including ripgrep's."""

_MAX_RULES = 5_000


@dataclass(frozen=True, slots=True)
class IgnoreRule:
    """A line of `.gitignore`. Its pattern applies to the path components after the first `depth`."""

    glob: Glob
    depth: int
    negated: bool
    folders_only: bool
    anchored: bool


def read_rules(text: str, depth: int) -> tuple[IgnoreRule, ...]:
    """Parse one file located `depth` folders below where the paths begin."""
    rules = []
    for line in text.splitlines()[:_MAX_RULES]:
        rule = _rule(line, depth)
        if rule is not None:
            rules.append(rule)
    return tuple(rules)


def is_ignored(rules: Sequence[IgnoreRule], parts: Sequence[str], *, folder: bool) -> bool:
    """Return whether the last matching rule excludes this path, regardless of its parent folders."""
    for rule in reversed(rules):
        if rule.folders_only and not folder:
            continue
        below = parts[rule.depth :]
        if rule.glob.matches(below if rule.anchored else below[-1:]):
            return not rule.negated
    return False


def _rule(line: str, depth: int) -> IgnoreRule | None:
    line = line.removeprefix("\ufeff")
    while line.endswith(" ") and not line.endswith("\\ "):
        line = line[:-1]
    if not line or line.startswith("#"):
        return None
    negated = line.startswith("!")
    line = line[negated:]
    folders_only = line.endswith("/")
    line = line.rstrip("/") if folders_only else line
    anchored = "/" in line
    # git has no braces, so they are literal
    pattern = line.lstrip("/").replace("{", "[{]") if "\\{" not in line else line.lstrip("/")
    if not pattern:
        return None
    try:
        return IgnoreRule(Glob(pattern), depth, negated, folders_only, anchored)
    except ToolFailed:
        return None
