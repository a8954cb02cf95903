"""Fallbacks for missing channel features: buttons as numbered lines, files as names. Pure functions."""

import re
from collections.abc import Iterable
from dataclasses import replace

from hob.core.content.capabilities import Capabilities
from hob.core.errors import SendFailed
from hob.core.messages import Attachment, Outbound, OutboundAction
from hob.core.translation.language import translatable

EDIT_MARK = "\u270e"
"""Prefix of a text that replaces an earlier one."""

_OPTION = re.compile(r"([1-9][0-9]?)\. (\S.*)")


def apply_fallbacks(message: Outbound, can: Capabilities) -> Outbound:
    """Return the message in a form that a channel with these capabilities can send; unchanged if it supports
    everything.

    Raises a permanent SendFailed if there is no fallback: a message cannot be deleted.
    """
    match message.action:
        case OutboundAction.DELETE if not can.deletes:
            raise SendFailed(
                translatable("messages cannot be deleted on {name}", name=message.to.channel), permanent=True
            )
        case OutboundAction.EDIT if not can.edits:
            message = replace(message, action=OutboundAction.SEND, about="", text=f"{EDIT_MARK} {message.text}")
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
        lines += number_options(message.poll)
        message = replace(message, poll=())
    if len(message.buttons) > can.buttons:
        lines += () if message.spelled else number_options(each.label for each in message.buttons)
        message = replace(message, buttons=())
    return replace(message, text="\n".join(filter(None, [message.text, *lines]))) if lines else message


def number_options(options: Iterable[str]) -> list[str]:
    """Return the options as numbered lines."""
    return [f"{n}. {option}" for n, option in enumerate(options, start=1)]


def parse_options(question: str) -> tuple[str, ...]:
    """Return the options of a question, the numbered lines at its end; empty if it has none."""
    found: list[str] = []
    for line in reversed(question.splitlines()):
        option = _OPTION.fullmatch(line)
        if option is None:
            break
        found.append(option[2])
        if option[1] == "1":
            return tuple(reversed(found)) if question.endswith("\n".join(number_options(reversed(found)))) else ()
    return ()


def resolve_choice(question: str, answer: str) -> str:
    """Return what an answer means, for the model: the option with that number, or a note that no option has it."""
    options, number = parse_options(question), answer.strip().rstrip(".)")
    if not options or not number.isdecimal():
        return answer
    if 1 <= int(number) <= len(options):
        return options[int(number) - 1]
    return f"{answer.strip()} (the user's own words, and no option: these have the numbers 1 to {len(options)})"


def _named(file: Attachment) -> str:
    return f"[{file.name or file.media_type}]" + (f" {file.link}" if file.link else "")
