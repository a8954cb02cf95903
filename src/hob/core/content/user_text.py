"""The part of a rendered user message that the user wrote: without untrusted texts and Hob's context block."""

import re

from hob.core.models import ModelRequest, UserMessage

# as `hob.agent.prompt` writes them; untrusted text can contain neither its own marker nor a `<context`
_UNTRUSTED = re.compile(r"<(untrusted-[0-9a-f]{10}) from=")
_CONTEXT = "<context>\n"


def strip_context(text: str) -> str:
    """Return the message without the final block of volatile context."""
    if text.rstrip().endswith("</context>"):
        at = text.rfind(_CONTEXT)
        if at == 0 or text[max(0, at - 1) : at] == "\n":
            return text[:at].rstrip()
    return text


def extract_user_text(text: str) -> str:
    """Return the trusted text of a user message."""
    text = strip_context(text)
    parts: list[str] = []
    at = 0
    while mark := _UNTRUSTED.search(text, at):
        parts.append(text[at : mark.start()])
        end = f"</{mark[1]}>"
        stop = text.find(end, mark.end())
        at = stop + len(end) if stop >= 0 else len(text)
    return "".join((*parts, text[at:])).strip()


def extract_all_user_text(request: ModelRequest) -> str:
    """Return the trusted text of all user messages in the request."""
    return "\n".join(extract_user_text(message.text) for message in request.messages if type(message) is UserMessage)
