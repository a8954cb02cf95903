"""Differences between servers for chat completions, as data."""

from collections.abc import Mapping
from dataclasses import field

from hob.core.models import Thinking
from hob.core.values import dataclass


@dataclass(frozen=True, slots=True)
class Dialect:
    """Dialect of one server. All known servers accept the defaults.

    Sources: the API references of OpenAI, OpenRouter, DeepSeek, Groq, Mistral and xAI.
    """

    max_tokens: str = "max_tokens"
    """Name of the field that limits the answer."""
    cache_key: bool = False
    """Whether `prompt_cache_key` keeps the requests of one conversation on one cache."""
    stream_options: bool = True
    """Whether usage must be requested for streams; some servers refuse the field."""
    effort: bool = False
    """Whether `reasoning_effort` sets the thinking level."""
    efforts: Mapping[Thinking, str] = field(default_factory=dict)
    """Levels with another name on this server."""
    reasoning_object: bool = False
    """Whether the level is sent as `reasoning: {effort}`."""
    usage_object: bool = False
    """Whether `usage: {include: true}` makes the server report its charge."""
    cached_system: tuple[str, ...] = ()
    """Prefixes of models whose prompt cache needs `cache_control` marks."""
    returns_reasoning: bool = False
    """Whether `reasoning_content` must be returned with an assistant message that called tools, within the turn."""
    nine_character_ids: bool = False
    """Whether call ids must be exactly nine letters and digits."""
    grammar: bool = False
    """Whether tool schemas become a grammar, which supports less (llama.cpp and its derivatives)."""
    user_after_tool: bool = True
    """Whether a user message may directly follow a tool's result."""
