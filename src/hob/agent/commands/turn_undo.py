"""Answers of `/undo`: the hidden messages of a turn and the files it changed."""

from collections.abc import Mapping, Sequence
from typing import Any

from hob.core.translation.command_answers import Answer, answer
from hob.core.values import dataclass

_MAX_FILES = 20
_MAX_DIFF = 6_000  # characters of a preview in a chat


@dataclass(frozen=True, slots=True)
class UndoResult:
    """An undone turn: the beginning of its text and the files it changed.

    `turn` is its id if `/undo files` needs it to choose the same turn.
    """

    words: str
    files: tuple[str, ...] = ()
    turn: str = ""


def describe_undone_words(done: UndoResult, language: str, *, owner: bool) -> str:
    """Say that the messages are hidden, and tell the owner that files were changed too."""
    text = answer(Answer.TURN_UNDONE, language, text=done.words)
    if not done.files or not owner:
        return text
    command = f"/undo files {done.turn}".rstrip()
    return f"{text}\n" + answer(Answer.TURN_CHANGED_FILES, language, files=_bullet_list(done.files), command=command)


def describe_undone_files(seen: Mapping[str, Any], language: str) -> str:
    """Say which files were restored and which were not. `seen` is a result of `Operations.undo_files`."""
    restored, kept = seen["restored"], seen["kept"]
    parts: list[str] = []
    if restored:
        parts.append(answer(Answer.FILES_UNDONE, language, text=seen["words"], files=_bullet_list(restored)))
    elif not kept:
        parts.append(answer(Answer.FILES_AS_BEFORE, language, text=seen["words"]))
    if kept:
        lines = [f"{each['path']} ({each['reason']})" for each in kept]
        parts.append(answer(Answer.FILES_KEPT, language, files=_bullet_list(lines)))
    if seen["running"]:
        parts.append(answer(Answer.STILL_CHANGING, language, names=", ".join(seen["running"])))
    if restored:
        parts.append(answer(Answer.FILES_BACK, language, command=f"/undo files {seen['back']}"))
    return "\n".join(parts)


def describe_undo_preview(seen: Mapping[str, Any], language: str) -> str:
    """Say what `/undo files` would do. `seen` is a result of `Operations.undo_files`."""
    diff = seen["diff"]
    if not diff:
        return answer(Answer.FILES_AS_BEFORE, language, text=seen["words"])
    if len(diff) > _MAX_DIFF:
        diff = f"{diff[:_MAX_DIFF]}\n…"
    return answer(Answer.FILES_PREVIEW, language, text=seen["words"], diff=diff.rstrip("\n"), turn=seen["turn"])


def _bullet_list(lines: Sequence[str]) -> str:
    more = (f"(+ {len(lines) - _MAX_FILES})",) if len(lines) > _MAX_FILES else ()
    return "".join(f"\n  {line}" for line in (*lines[:_MAX_FILES], *more))
