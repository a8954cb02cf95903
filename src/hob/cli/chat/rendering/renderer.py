"""Markdown rendered by rich as terminal lines. Imported with the first answer, as it loads slowly."""

import io
from collections.abc import Iterator
from typing import Any, ClassVar

from markdown_it import MarkdownIt
from rich.color import Color, ColorType
from rich.console import Console, ConsoleOptions, JustifyMethod, RenderResult
from rich.markdown import CodeBlock, Heading, ListItem, Markdown, MarkdownElement
from rich.segment import Segment
from rich.style import Style
from rich.syntax import Syntax
from rich.text import Text
from rich.theme import Theme

from hob.cli.chat.rendering.fragments import Line, stripped
from hob.cli.output import printable
from hob.core.screening.characters import neutralise

_ANSI = (
    "ansiblack", "ansired", "ansigreen", "ansiyellow", "ansiblue", "ansimagenta", "ansicyan", "ansigray",
    "ansibrightblack", "ansibrightred", "ansibrightgreen", "ansibrightyellow", "ansibrightblue", "ansibrightmagenta",
    "ansibrightcyan", "ansiwhite",
)  # fmt: skip
_MARKS = ("bold", "dim", "italic", "underline", "strike", "reverse")
# the terminal's sixteen colours and no backgrounds: readable on dark and light
_THEME = Theme(
    {
        "markdown.h1": "bold underline",
        "markdown.h2": "bold underline",
        "markdown.h3": "bold",
        "markdown.h4": "bold",
        "markdown.h5": "bold",
        "markdown.h6": "bold dim",
        "markdown.code": "cyan",
        "markdown.code_block": "cyan",
        "markdown.block_quote": "dim",
        "markdown.link": "underline",
        "markdown.link_url": "blue",
        "markdown.item.bullet": "bold",
        "markdown.item.number": "bold",
        "markdown.list": "none",
        "markdown.hr": "dim",
        "markdown.table.header": "bold",
        "markdown.table.border": "dim",
    }
)
_CODE_THEME = "ansi_dark"
_LINE_ENDS = dict.fromkeys((0x0A, 0x2028, 0x2029), " ")


class _LeftHeading(Heading):
    LEVEL_ALIGN: ClassVar[dict[str, JustifyMethod]] = {}


class _Item(ListItem):
    """A list item whose number keeps its dot."""

    def render_number(self, console: Console, options: ConsoleOptions, number: int, last_number: int) -> RenderResult:
        style, width = console.get_style("markdown.item.number"), len(f"{last_number}. ")
        lines = console.render_lines(self.elements, options.update(width=options.max_width - width), style=self.style)
        for count, line in enumerate(lines):
            yield Segment(" " * width if count else f"{number}. ".rjust(width), style)
            yield from line
            yield Segment("\n")


class _Code(CodeBlock):
    """Code under its language, without a prefix, so that it can be copied."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        named = "" if self.lexer_name == "text" else self.lexer_name
        yield Text(f"── {named}".rstrip(), style="dim", no_wrap=True, overflow="ellipsis")
        yield Syntax(str(self.text).rstrip(), self.lexer_name, theme=self.theme, word_wrap=True)
        yield Text("──", style="dim")


class _Block(Markdown):
    """One block, with the link definitions of the blocks before it."""

    elements: ClassVar[dict[str, type[MarkdownElement]]] = {
        **Markdown.elements,
        "heading_open": _LeftHeading,
        "list_item_open": _Item,
        "fence": _Code,
        "code_block": _Code,
    }

    def __init__(self, text: str, parser: MarkdownIt, definitions: dict[str, Any]) -> None:
        # link addresses are shown, not hidden in escape sequences: a link's text may misrepresent its target
        super().__init__("", code_theme=_CODE_THEME, hyperlinks=False)
        self.parsed = parser.parse(text, definitions)
        for token in self.parsed:
            for child in token.children or ():
                if child.type == "softbreak":  # models mean the line breaks they write, e.g. in verses and addresses
                    child.type = "hardbreak"


class Renderer:
    """Renders the blocks of one answer."""

    def __init__(self) -> None:
        self._parser = MarkdownIt().enable("strikethrough").enable("table")
        self._definitions: dict[str, Any] = {}

    def render(self, block: str, width: int) -> list[Line]:
        """Render a finished block, without empty lines around it. Blocks come in order."""
        return _lines(_Block(neutralise(block).text, self._parser, self._definitions), width)

    def preview(self, block: str, width: int) -> list[Line]:
        """Render an open block. Its link definitions do not count yet, as they may be incomplete."""
        known = {"references": dict(self._definitions.get("references", {}))}
        return _lines(_Block(neutralise(block).text, self._parser, known), width)


def _lines(block: _Block, width: int) -> list[Line]:
    console = Console(
        file=io.StringIO(),
        force_terminal=True,
        color_system="standard",
        width=max(8, width),
        height=25,
        theme=_THEME,
        highlight=False,
        legacy_windows=False,
        _environ={},
    )
    lines = [list(_fragments(line)) for line in console.render_lines(block, pad=False)]
    return stripped(lines)


def _fragments(line: list[Segment]) -> Iterator[tuple[str, str]]:
    for segment in line:
        if not segment.control and segment.text:
            # again: entities such as `&#12;` are decoded only while rendering
            yield _style(segment.style), printable(neutralise(segment.text).text).translate(_LINE_ENDS)


def _style(style: Style | None) -> str:
    if style is None:
        return ""
    words = [mark for mark in _MARKS if getattr(style, mark)]
    if style.color is not None and (name := _colour(style.color)):
        words.append(f"fg:{name}")
    return " ".join(words)


def _colour(colour: Color) -> str:
    if colour.type is ColorType.DEFAULT:
        return ""
    if colour.number is not None and colour.number < len(_ANSI):
        return _ANSI[colour.number]
    return colour.get_truecolor().hex
