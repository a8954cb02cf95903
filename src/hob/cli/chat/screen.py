"""The bottom of the terminal: preview, prompt and status bar. Everything above is ordinary scrollback.

prompt_toolkit draws only differences, and each drawing is one write, which avoids flicker. No cursor position reports
are requested, since a slow line would delay the answers.
"""

from collections.abc import Callable, Sequence
from typing import Any, cast

from prompt_toolkit.application import Application
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.filters import Condition, has_completions
from prompt_toolkit.formatted_text import FormattedText
from prompt_toolkit.input import Input
from prompt_toolkit.key_binding import KeyBindingsBase
from prompt_toolkit.layout import (
    AnyContainer,
    BufferControl,
    ConditionalContainer,
    Dimension,
    FormattedTextControl,
    HSplit,
    Layout,
    Window,
)
from prompt_toolkit.layout.menus import CompletionsMenuControl
from prompt_toolkit.layout.processors import BeforeInput
from prompt_toolkit.output.vt100 import Vt100_Output
from prompt_toolkit.renderer import print_formatted_text
from prompt_toolkit.styles import Style
from prompt_toolkit.widgets import SearchToolbar

from hob.cli.chat.rendering.fragments import Line, joined
from hob.config.environment import process_environment

_REDRAW_SECONDS = 0.04
_MENU_ROWS = 8
_STYLE = Style.from_dict(
    {
        "bar": "dim",
        "completion-menu": "bg:default fg:default",
        "completion-menu.completion.current": "bg:default fg:default reverse",
        "completion-menu.meta.completion": "bg:default fg:default dim",
        "completion-menu.meta.completion.current": "bg:default fg:default reverse dim",
    }
)


class _Steady(Vt100_Output):
    """Buffers terminal output until a drawing is complete."""

    held = False

    def flush(self) -> None:
        if not self.held:
            super().flush()

    @property
    def responds_to_cpr(self) -> bool:
        return False


class Screen:
    """The running prompt. `write` puts permanent lines above it."""

    def __init__(
        self,
        buffer: Buffer,
        keys: KeyBindingsBase,
        *,
        prompt: Callable[[], str],
        preview: Callable[[], Sequence[Line]],
        bar: Callable[[], str],
        flow: Callable[[], None],
        drawn: Callable[[], None],
        terminal: tuple[Input, Any],
    ) -> None:
        """`flow` may write before each drawing, `drawn` is called after it; `terminal` is the input and output."""
        self._pending: list[Line] = []
        self._preview_of, self._flow, self._drawn = preview, flow, drawn
        self._preview: list[Line] = []
        source, file = terminal
        self._output = cast(_Steady, _Steady.from_pty(file, term=process_environment().get("TERM")))
        self._bar = bar
        self.app: Application[None] = Application(
            layout=self._layout(buffer, prompt),
            style=_STYLE,
            include_default_pygments_style=False,
            key_bindings=keys,
            erase_when_done=True,
            min_redraw_interval=_REDRAW_SECONDS,
            terminal_size_polling_interval=None,
            before_render=lambda _: self._before(),
            after_render=lambda _: self._after(),
            input=source,
            output=self._output,
        )
        self.app.ttimeoutlen = 0.1
        self.app.timeoutlen = 0.4

    @property
    def width(self) -> int:
        """Usable columns; the last is left free, where terminals differ."""
        return max(8, self._output.get_size().columns - 1)

    def write(self, lines: Sequence[Line]) -> None:
        """Queue lines to appear above the prompt with the next drawing."""
        self._pending += lines
        self.app.invalidate()

    def close(self) -> None:
        """Write queued lines; nothing is drawn afterwards."""
        self._output.held = False
        self._print()

    def _layout(self, buffer: Buffer, prompt: Callable[[], str]) -> Layout:
        search = SearchToolbar()
        written = BufferControl(
            buffer,
            input_processors=[BeforeInput(lambda: [("fg:ansicyan", prompt())])],
            search_buffer_control=search.control,
        )
        going_on = Window(
            FormattedTextControl(lambda: FormattedText(joined(self._preview)[:-1])),
            height=lambda: Dimension.exact(len(self._preview)),
        )
        rows: list[AnyContainer] = [
            Window(height=1),
            ConditionalContainer(going_on, Condition(lambda: bool(self._preview))),
            Window(
                written,
                height=lambda: Dimension(min=1, max=max(1, self._output.get_size().rows // 2)),
                wrap_lines=True,
                dont_extend_height=True,
                get_line_prefix=lambda number, wrapped: "  " if number and not wrapped else "",
            ),
            search,
            ConditionalContainer(
                Window(CompletionsMenuControl(), height=Dimension(max=_MENU_ROWS), dont_extend_height=True),
                has_completions,
            ),
            Window(FormattedTextControl(self._bar_line), height=1, style="class:bar"),
        ]
        return Layout(HSplit(rows), focused_element=written)

    def _bar_line(self) -> FormattedText:
        return FormattedText([("class:bar", self._bar()[: self.width])])

    def _before(self) -> None:
        self._output.held = True
        self._flow()
        # of a long block the end is shown, with room for the prompt
        rows = self._output.get_size().rows
        room = max(0, min(rows * 2 // 3, rows - 4))
        lines = self._preview_of()
        self._preview = list(lines[max(0, len(lines) - room) :])
        if self._pending or self._shrinks():
            self.app.renderer.erase(leave_alternate_screen=False)
            self._print()

    def _after(self) -> None:
        self._output.held = False
        self._output.flush()
        self._drawn()

    def _shrinks(self) -> bool:
        """Return whether fewer rows are needed than were drawn, which the renderer would leave blank."""
        last = self.app.renderer.last_rendered_screen
        size = self._output.get_size()
        wanted = self.app.layout.container.preferred_height(size.columns, size.rows).preferred
        return last is not None and wanted < last.height

    def _print(self) -> None:
        if self._pending:
            text = FormattedText(joined(self._pending))
            self._pending = []
            print_formatted_text(self._output, text, _STYLE, color_depth=self.app.color_depth)
