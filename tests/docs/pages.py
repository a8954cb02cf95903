"""The pages as text: what they link to, and what they tell people to type."""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]

_FENCE = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
_INLINE = re.compile(r"`([^`\n]+)`")
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
_SHELL = frozenset({"sh", "bash", "console"})


@dataclass(frozen=True)
class Page:
    """One Markdown file."""

    path: Path

    @property
    def name(self) -> str:
        return str(self.path.relative_to(ROOT))

    @property
    def text(self) -> str:
        return self.path.read_text("utf-8")

    @property
    def prose(self) -> str:
        """The text without code blocks."""
        return _FENCE.sub("", self.text)

    def blocks(self, *languages: str) -> list[str]:
        return [body for language, body in _FENCE.findall(self.text) if language in languages]

    def links(self) -> list[str]:
        """Where its relative links lead."""
        return [link for link in _LINK.findall(self.prose) if not re.match(r"\w+:", link)]

    def inline(self) -> list[str]:
        """What stands between backticks."""
        return _INLINE.findall(self.prose)

    def headings(self) -> set[str]:
        """The anchors of its headings, as GitHub makes them."""
        found: set[str] = set()
        for line in self.prose.splitlines():
            if re.match(r"#{1,6} ", line):
                text = line.lstrip("#").strip().lower()
                found.add(re.sub(r"[^\w\- ]", "", text).replace(" ", "-"))
        return found


@cache
def pages() -> tuple[Page, ...]:
    """README, CONTRIBUTING and everything under docs/."""
    files = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
    return tuple(map(Page, files))


def page(name: str) -> Page:
    return Page(ROOT / name)


def command_lines(text: str) -> Iterator[list[str]]:
    """Every call of `hob` in shell text, as words."""
    for line in text.replace("\\\n", " ").splitlines():
        for inner in re.findall(r"\$\(([^()]*)\)", line):
            yield from command_lines(inner)
        yield from _calls(_words(line))


def _words(line: str) -> list[str]:
    lexer = shlex.shlex(line, posix=True, punctuation_chars="|;&<>")
    lexer.whitespace_split = True
    return list(lexer)


def _calls(words: list[str]) -> Iterator[list[str]]:
    call: list[str] | None = None
    skip = False
    for word in [*words, ";"]:
        if skip:
            skip = False
        elif re.fullmatch(r"[|;&]+", word):
            if call is not None:
                yield call
            call = None
        elif re.fullmatch(r"[<>]+", word):
            skip = True  # where to or from stands next
        elif call is not None:
            call.append(word)
        elif word in {"hob", ".venv/bin/hob"}:
            call = []


def shell_calls(each: Page) -> list[list[str]]:
    """The calls in its shell blocks."""
    return [call for block in each.blocks(*_SHELL) for call in command_lines(block)]


def inline_calls(each: Page) -> list[list[str]]:
    """The calls between backticks."""
    return [call for code in each.inline() if code == "hob" or code.startswith("hob ") for call in command_lines(code)]
