"""Fallbacks for what a channel cannot: buttons as numbered lines, a file by its name. Pure."""

import re
from collections.abc import Iterable
from dataclasses import replace

from hob.core.content.capabilities import Capabilities
from hob.core.errors import SendFailed
from hob.core.messages import Attachment, Outbound, OutboundAction
from hob.core.translation.language import translatable

EDITED = "\u270e"
"""Stands before a text that was to replace an earlier one."""

_OPTION = re.compile(r"([1-9][0-9]?)\. (\S.*)")


def plain_form(message: Outbound, can: Capabilities) -> Outbound:
    """The message as a channel with these capabilities can send it; the very same where it can all of it.

    Raises SendFailed, for good, where nothing comes near: a message cannot be taken back.
    """
    match message.action:
        case OutboundAction.DELETE if not can.deletes:
            raise SendFailed(
                translatable("messages cannot be deleted on {name}", name=message.to.channel), permanent=True
            )
        case OutboundAction.EDIT if not can.edits:
            message = replace(message, action=OutboundAction.SEND, about="", text=f"{EDITED} {message.text}")
        case OutboundAction.REACT if not can.reactions:
            about = message.about if can.replies else ""
            message = replace(message, action=OutboundAction.SEND, about=about)
        case OutboundAction.SEND if message.about and not can.replies:
            message = replace(message, about="")
    lines: list[str] = []
    if len(message.attachments) > can.files:
        lines += map(_named, message.attachments[can.files :])
        message = replace(message, attachments=message.attachments[: can.files])
    if message.poll and not can.polls:
        lines += numbered(message.poll)
        message = replace(message, poll=())
    if len(message.buttons) > can.buttons:
        lines += () if message.spelled else numbered(each.label for each in message.buttons)
        message = replace(message, buttons=())
    return replace(message, text="\n".join(filter(None, [message.text, *lines]))) if lines else message


def numbered(options: Iterable[str]) -> list[str]:
    """The options as lines, each with its number."""
    return [f"{n}. {option}" for n, option in enumerate(options, start=1)]


def options_of(question: str) -> tuple[str, ...]:
    """The options of a question: the numbered lines at its end, from 1 on; none where it has none."""
    found: list[str] = []
    for line in reversed(question.splitlines()):
        option = _OPTION.fullmatch(line)
        if option is None:
            break
        found.append(option[2])
        if option[1] == "1":
            return tuple(reversed(found)) if question.endswith("\n".join(numbered(reversed(found)))) else ()
    return ()


def chosen(question: str, answer: str) -> str:
    """What an answer means, for the model: the option whose number it is; of another number, that no option has it."""
    options, number = options_of(question), answer.strip().rstrip(".)")
    if not options or not number.isdecimal():
        return answer
    if 1 <= int(number) <= len(options):
        return options[int(number) - 1]
    return f"{answer.strip()} (the user's own words, and no option: these have the numbers 1 to {len(options)})"


def _named(file: Attachment) -> str:
    return f"[{file.name or file.media_type}]" + (f" {file.link}" if file.link else "")
