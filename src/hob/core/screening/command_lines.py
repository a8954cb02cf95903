"""Passwords in the commands that people paste: options of programs that take one in the open."""

import re
from collections.abc import Iterator

from hob.core.screening.kinds import SensitiveFinding, SensitiveKind

_MOST_LINE = 500  # characters of a command that are looked at
_NO_VALUES = "$%<{[(*"  # a variable, or a mark that stands for a value
_LOGIN = re.compile(r"(?<!\S)(?:-u|--user|--proxy-user)[ =]{0,2}+[\"']?[^\s:\"']{1,64}+:(?P<value>[^\s\"']{3,200}+)")
_PROGRAMS = {
    "curl": _LOGIN,  # https://curl.se/docs/manpage.html#-u
    "mysql": re.compile(r"(?<!\S)-p[\"']?(?P<value>[^\s\"']{3,200}+)"),  # also mysqldump, mysqladmin; -p with no blank
    "mariadb": re.compile(r"(?<!\S)-p[\"']?(?P<value>[^\s\"']{3,200}+)"),
    "sshpass": re.compile(r"(?<!\S)-p[ ]?[\"']?(?P<value>[^\s\"']{3,200}+)"),
}


def find_options(text: str, lowered: str) -> Iterator[SensitiveFinding]:
    """What `curl -u name:…`, `mysql -p…` and `sshpass -p …` are given. A line is looked at once for each program."""
    for program, option in _PROGRAMS.items():
        at = lowered.find(program)
        while at >= 0:
            end = text.find("\n", at, at + _MOST_LINE)
            end = end if end >= 0 else min(len(text), at + _MOST_LINE)
            for match in option.finditer(text, at, end):
                if match["value"][0] not in _NO_VALUES:
                    yield SensitiveFinding(SensitiveKind.PASSWORD, *match.span("value"))
            at = lowered.find(program, end)
