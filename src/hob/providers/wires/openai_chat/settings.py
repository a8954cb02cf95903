"""What differs between servers that speak chat completions, as data."""

from collections.abc import Mapping
from dataclasses import field

from hob.core.models import Thinking
from hob.core.values import dataclass


@dataclass(frozen=True, slots=True)
class Dialect:
    """One server's ways. The defaults are understood by all that we know.

    Sources: the API references of OpenAI, OpenRouter, DeepSeek, Groq, Mistral and xAI.
    """

    max_tokens: str = "max_tokens"
    """Under which name the longest answer is asked for."""
    cache_key: bool = False
    """`prompt_cache_key` keeps one conversation's requests on one cache."""
    stream_options: bool = True
    """Usage of a stream has to be asked for; some servers refuse the field."""
    effort: bool = False
    """`reasoning_effort` chooses how long the model thinks."""
    efforts: Mapping[Thinking, str] = field(default_factory=dict)
    """Levels that have another name there."""
    reasoning_object: bool = False
    """The same as `reasoning: {effort}`."""
    usage_object: bool = False
    """`usage: {include: true}` makes the server tell what it charged."""
    cached_system: tuple[str, ...] = ()
    """Models (by the beginning of their names) whose prompt cache wants `cache_control` marks."""
    returns_reasoning: bool = False
    """`reasoning_content` has to come back with an assistant message that called tools, while the turn goes on."""
    nine_character_ids: bool = False
    """A call's id has nine letters and digits, no more and no less."""
    grammar: bool = False
    """Schemas of tools are turned into a grammar, which knows less (llama.cpp and what is built on it)."""
    user_after_tool: bool = True
    """A user message may follow a tool's result at once."""
