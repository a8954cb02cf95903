"""Key bindings of the chat."""

from typing import Protocol

from prompt_toolkit.application import get_app
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.filters import Condition, is_searching
from prompt_toolkit.key_binding import KeyBindings, KeyBindingsBase, KeyPressEvent, merge_key_bindings
from prompt_toolkit.key_binding.bindings.open_in_editor import load_open_in_editor_bindings
from prompt_toolkit.keys import Keys

from hob.cli.chat.input.input_draft import InputDraft, dropped_files


class PromptActions(Protocol):
    """Actions of the chat that key bindings trigger."""

    @property
    def asking(self) -> bool:
        """Whether a question is shown at the prompt."""

    def submit(self) -> None:
        """Send the input, or answer the question."""

    def interrupt(self) -> None:
        """Handle Ctrl-C."""

    def leave(self) -> None:
        """Handle Ctrl-D at an empty prompt."""

    def dismiss_question(self) -> None:
        """Dismiss the question."""


def key_bindings(actions: PromptActions, draft: InputDraft) -> KeyBindingsBase:
    """Return the chat's key bindings, in addition to those of Emacs or the chosen editor."""
    keys = KeyBindings()
    asking = Condition(lambda: actions.asking)
    empty = Condition(lambda: not get_app().current_buffer.text)

    @keys.add("enter", filter=~is_searching)
    def _enter(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        if _accept_completion(buffer):
            return
        if _line_continues(buffer) and not actions.asking:
            buffer.delete_before_cursor()
            buffer.insert_text("\n")
        else:
            actions.submit()

    @keys.add("escape", "enter", filter=~asking)
    def _new_line(event: KeyPressEvent) -> None:
        event.current_buffer.insert_text("\n")

    @keys.add("c-c", filter=~is_searching)
    @keys.add(Keys.SIGINT)
    def _interrupt(_: KeyPressEvent) -> None:
        actions.interrupt()

    @keys.add("c-d", filter=empty & ~asking)
    def _leave(_: KeyPressEvent) -> None:
        actions.leave()

    @keys.add("escape", filter=asking)
    @keys.add("c-d", filter=empty & asking)
    def _dismiss_question(_: KeyPressEvent) -> None:
        actions.dismiss_question()

    @keys.add("c-z")
    def _suspend(event: KeyPressEvent) -> None:
        event.app.suspend_to_background()

    @keys.add(Keys.BracketedPaste)
    def _paste(event: KeyPressEvent) -> None:
        text = event.data.replace("\r\n", "\n").replace("\r", "\n")
        event.current_buffer.insert_text(_dropped_file_marks(text, draft) or draft.paste(text))

    @keys.add("backspace", filter=~is_searching)
    def _backspace(event: KeyPressEvent) -> None:
        mark = draft.mark_before(event.current_buffer.document.text_before_cursor)
        event.current_buffer.delete_before_cursor(len(mark) or event.arg)

    return merge_key_bindings([load_open_in_editor_bindings(), keys])


def _accept_completion(buffer: Buffer) -> bool:
    """Accept a selected completion; return whether there was one."""
    state = buffer.complete_state
    if state is None or state.current_completion is None:
        return False
    buffer.complete_state = None
    return True


def _line_continues(buffer: Buffer) -> bool:
    """Return whether the line ends with a backslash and so continues."""
    document = buffer.document
    before = document.text_before_cursor
    return document.is_cursor_at_the_end and (len(before) - len(before.rstrip("\\"))) % 2 == 1


def _dropped_file_marks(text: str, draft: InputDraft) -> str:
    """Return marks for files dropped on the terminal; empty for any other text."""
    try:
        return " ".join(map(draft.attach, dropped_files(text)))
    except OSError:
        return ""
