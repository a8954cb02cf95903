"""What `${name op argument}` gives (POSIX.1-2024, XCU 2.6.2; bash reference manual, 3.5.3).

Where a part of the answer is not known it is ANY.
"""

import re

from hob.guard.shell.values import ANY, HERE, HOME, ONE, STAR, is_known

_LONGEST_MATCHED = 256
_MOST_STARS = 3
_NUMBERS = re.compile(r"\s*(-?\d{1,6})\s*(?::\s*(-?\d{1,6})\s*)?")


def trimmed(value: str, operator: str, glob: str) -> str:
    """`${value#glob}` and its kin: `#`, `##`, `%`, `%%`."""
    if not is_known(value):
        return _cut(value, operator, glob)
    if len(value) > _LONGEST_MATCHED or glob.count(STAR) > _MOST_STARS or ANY in glob or HOME in glob:
        return ANY
    wanted = _matcher(glob)
    lengths = range(len(value) + 1) if len(operator) == 1 else range(len(value), -1, -1)
    for length in lengths:
        if operator[0] == "#" and wanted.fullmatch(value, 0, length):
            return value[length:]
        if operator[0] == "%" and wanted.fullmatch(value, len(value) - length):
            return value[: len(value) - length]
    return value


def _cut(value: str, operator: str, glob: str) -> str:
    """The usual ways to take a path apart of which a part is not known."""
    if operator == "##" and glob == f"{STAR}/" and ANY not in value:
        return value.rpartition("/")[2]
    if operator[0] == "%" and value == HOME and glob[:1] == "/":
        return f"{HOME}/.."
    if operator[0] == "%" and is_known(glob) and value.endswith(glob):
        return value[: len(value) - len(glob)]
    if operator == "%" and len(glob) == 2 and glob[1] == STAR and is_known(glob[0]):
        rest, found, cut = value.rpartition(glob[0])
        if found and is_known(cut):
            return rest
    return value[0] if operator[0] == "%" and value[:1] == "/" and glob.endswith(STAR) else ANY


def replaced(value: str, operator: str, argument: str) -> str:
    """`${value/glob/text}` and its kin."""
    glob, _, text = argument.partition("/")
    if not is_known(value) or not is_known(text) or ANY in glob or HOME in glob:
        return ANY
    if len(value) > _LONGEST_MATCHED or glob.count(STAR) > _MOST_STARS or not glob:
        return ANY if glob else value
    wanted = _matcher(glob).pattern
    if operator == "/#":
        wanted = rf"\A(?:{wanted})"
    elif operator == "/%":
        wanted = rf"(?:{wanted})\Z"
    return re.sub(wanted, lambda _: text, value, count=0 if operator == "//" else 1)


def substring(value: str, argument: str) -> str:
    """`${value:offset:length}`."""
    found = _NUMBERS.fullmatch(argument)
    if found is None:
        return ANY
    start, length = int(found[1]), None if found[2] is None else int(found[2])
    if is_known(value):
        if start < 0:
            start += len(value)
        if start < 0:
            return ""
        if length is None:
            return value[start:]
        return value[start : start + length] if length >= 0 else value[start:length]
    # paths are known to begin with a slash
    if start == 0 and length == 1 and value[0] in (HOME, HERE, "/"):
        return "/"
    known = re.match("[^\x00-\x04]*", value)
    if known is not None and start >= 0 and length is not None and 0 <= start + length <= known.end():
        return value[start : start + length]
    return ANY


def cased(value: str, operator: str) -> str:
    """`${value^^}` and its kin."""
    if not value or not is_known(value[0]):
        return value if is_known(value) else ANY
    change = str.upper if operator[0] == "^" else str.lower
    return change(value) if len(operator) == 2 else change(value[0]) + value[1:]


def _matcher(glob: str) -> re.Pattern[str]:
    signs = {STAR: ".*", ONE: "."}
    return re.compile("".join(signs.get(char) or re.escape(char) for char in glob), re.DOTALL)
