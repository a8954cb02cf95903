"""What a person wrote of a rendered user message: without marked untrusted texts and without Hob's context block."""

import re

from hob.core.models import ModelRequest, UserMessage

# as `hob.agent.prompt` writes them: the name of a mark cannot stand inside of it, nor a `<context` in untrusted text
_UNTRUSTED = re.compile(r"<(untrusted-[0-9a-f]{10}) from=")
_CONTEXT = "<context>\n"


def without_context(text: str) -> str:
    """The message without the block of what is true only now, which ends it."""
    if text.rstrip().endswith("</context>"):
        at = text.rfind(_CONTEXT)
        if at == 0 or text[max(0, at - 1) : at] == "\n":
            return text[:at].rstrip()
    return text


def own_words(text: str) -> str:
    """The trusted text of a user message."""
    text = without_context(text)
    parts: list[str] = []
    at = 0
    while mark := _UNTRUSTED.search(text, at):
        parts.append(text[at : mark.start()])
        end = f"</{mark[1]}>"
        stop = text.find(end, mark.end())
        at = stop + len(end) if stop >= 0 else len(text)
    return "".join((*parts, text[at:])).strip()


def all_own_words(request: ModelRequest) -> str:
    """Of all user messages of the request."""
    return "\n".join(own_words(message.text) for message in request.messages if type(message) is UserMessage)
