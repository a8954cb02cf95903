"""The earlier name of `hob.testing.model_server`'s replies."""

from collections.abc import Mapping
from typing import Any

from hob.testing.model_server.hypertext import Action as Action
from hob.testing.model_server.hypertext import Asked
from hob.testing.model_server.hypertext import End as End
from hob.testing.model_server.openai_chat import OpenAIChat
from hob.testing.model_server.prompt import Prompt, Tokens
from hob.testing.model_server.replies import ODDITIES as ODDITIES
from hob.testing.model_server.replies import Fault as Fault
from hob.testing.model_server.replies import Reply as Reply
from hob.testing.model_server.replies import reply_of as reply_of
from hob.testing.model_server.wire import Answer, perform


def answer(reply: Reply, request: Mapping[str, Any], number: int, size: int) -> list[Action]:
    """What is done about one well-formed request of chat completions."""
    prompt = Prompt(str(request.get("model", "")), bool(request.get("stream")), request, ())
    return perform(
        OpenAIChat(), Answer(reply, prompt, str(number), Tokens(size // 4), Asked(0.0, "POST", "/", {}, b""))
    )
