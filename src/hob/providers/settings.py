"""Settings of models: choice, providers and prices. Imports no HTTP library."""

import re
from collections.abc import Mapping

from hob.core.models import Thinking
from hob.core.settings import Secret, setting
from hob.core.translation.language import translatable
from hob.core.values import dataclass
from hob.providers.catalog.catalog import WIRES
from hob.providers.http.headers import find_invalid_header

TASKS = ("summary", "facts", "observer", "reflector", "consolidation", "rewriting", "reranking", "sampling")
"""Tasks that can have a model of their own."""


@dataclass(frozen=True, slots=True)
class PriceSetting:
    """Dollars per million tokens. Cached tokens cost as much as other input unless their price is set.

    For a listed model, missing prices are taken from the list. For any other model, a price that lacks input or output
    counts as unknown, never as free.
    """

    input: float | None = setting(None, "Dollars per million tokens of input.", at_least=0)
    output: float | None = setting(None, "Dollars per million tokens of output.", at_least=0)
    cache_read: float | None = setting(None, "Dollars per million tokens read from the provider's cache.", at_least=0)
    cache_write: float | None = setting(None, "Dollars per million tokens written to the provider's cache.", at_least=0)


@dataclass(frozen=True, slots=True)
class ProviderSettings:
    """Your own provider, or different settings for a known one."""

    wire: str = setting("", "API of its server; not set: the known one, otherwise openai.", one_of=("", *WIRES))
    base_url: str = setting("", "Its address; not set: the provider's usual one.")
    api_key: Secret | None = setting(None, "Its API key; not set: read from the provider's usual environment variable.")
    api_keys: list[Secret] = setting([], "Further API keys, tried in this order if one fails.")
    headers: dict[str, str] = setting({}, "Additional headers for each request.")
    model: str = setting("", "Model used if only the provider is named; not set: a model must be named.")
    local: bool | None = setting(None, "Whether it runs on your own machines; not set: judged by its address.")
    tools: str = setting(
        "auto",
        "How its models call tools: through the API (native), in their text (text), or not at all (none).",
        one_of=("auto", "native", "text", "none"),
    )
    images: bool | None = setting(None, "Whether its models accept images; not set: Hob tries.")
    small: bool | None = setting(
        None, "Whether its models are small and get a short prompt and few tools; not set: judged by name."
    )
    command: str = setting("", "The program of a provider that is a command line tool; not set: its usual name.")
    arguments: list[str] = setting([], "Additional arguments for that program.")
    environment: list[str] = setting([], "Names of additional environment variables that the program may see.")

    def __post_init__(self) -> None:
        _check_address(self.base_url)
        _check_headers(self.headers)


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """The language models in use, their fallbacks, and their servers."""

    name: str = setting("", "The model, as provider/model or an alias; not set: the first that Hob finds.", stored=True)
    fallbacks: list[str] = setting([], "Models to try if that one fails, in this order.")
    aliases: dict[str, str] = setting({}, "Your own names for models.")
    tasks: dict[str, str] = setting(
        {},
        "Models for single jobs. summary: summarise long conversations. facts: learn facts from messages. "
        "observer, reflector, consolidation: note, condense and sum up what conversations said. rewriting, "
        "reranking: find other search words, order search results. sampling: answer MCP servers. Not named: "
        "model.name.",
    )
    thinking: str = setting(
        "",
        "How long models think before they answer; not set: each model's default.",
        one_of=("", *Thinking),
        stored=True,
    )
    base_url: str = setting(
        "",
        "Address of a server that speaks OpenAI chat completions; its models are named without a provider; "
        "not set: none.",
    )
    api_key: Secret | None = setting(None, "API key of that server; local ones need none.")
    headers: dict[str, str] = setting({}, "Additional headers for each request to that server.")
    providers: dict[str, ProviderSettings] = setting({}, "Your own providers, or different settings for known ones.")
    embedding: str = setting(
        "", "The embedding model, or its folder, so that memory is searched by meaning too; not set: by words only."
    )
    reranking: str = setting("", "The model that ranks search results of memory (POST /rerank); not set: none.")
    transcription: str = setting("", "The model that turns speech into text; not set: the provider's usual one.")
    speech: str = setting("", "The model that turns text into speech; not set: the provider's usual one.")
    voice: str = setting("", "The voice it speaks with; not set: nova.")
    speech_format: str = setting("mp3", "The audio format of spoken answers.", one_of=("mp3", "opus", "aac", "pcm"))
    image_generation: str = setting("", "The model that generates images; not set: the provider's usual one.")
    vision: str = setting(
        "", "The model that describes images for models without vision; not set: the answering one, if it has vision."
    )
    max_attempts: int = setting(
        4, "Maximum requests for one answer to the same model with the same key.", at_least=1, at_most=4
    )
    connect_seconds: float = setting(5.0, "Seconds Hob tries to reach a server.", at_least=0.1, at_most=60)
    read_seconds: float = setting(600.0, "Maximum seconds without data from a server.", at_least=1)
    prices: dict[str, PriceSetting] = setting(
        {}, "Your own prices by model, which override the known ones; a name may end in *."
    )

    def __post_init__(self) -> None:
        _check_address(self.base_url)
        _check_headers(self.headers)
        for task in self.tasks:
            if task not in TASKS:
                usual = translatable("; the model of a chat is model.name") if task == "chat" else ""
                raise ValueError(
                    translatable(
                        "there is no tasks.{task}, only {known}{usual}", task=task, known=", ".join(TASKS), usual=usual
                    )
                )
        for alias in self.aliases:
            _follow(alias, self.aliases)


def _check_address(base_url: str) -> None:
    if base_url and not re.fullmatch(r"\s*(?:https?://)?(?![a-z]+:/)[^\s/:]\S*\s*", base_url, re.IGNORECASE):
        raise ValueError(
            translatable(
                "base_url {address!r} is not a server's address; one looks like https://models.example/v1",
                address=base_url,
            )
        )


def _check_headers(headers: Mapping[str, str]) -> None:
    wrong = find_invalid_header(headers)
    if wrong is not None:
        raise ValueError(
            translatable(
                "headers.{name} cannot be sent; a header is one line of ASCII without spaces around it", name=wrong
            )
        )


def _follow(alias: str, aliases: Mapping[str, str]) -> None:
    seen = [alias]
    while (name := aliases.get(seen[-1].strip())) is not None:
        seen.append(name.strip())
        if len(set(seen)) < len(seen):
            raise ValueError(translatable("aliases form a circle: {names}", names=" -> ".join(seen)))
