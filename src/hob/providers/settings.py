"""Which models think for Hob, where they are, and what they cost. Loads without any HTTP library."""

import re
from collections.abc import Mapping

from hob.core.models import Thinking
from hob.core.settings import Secret, setting
from hob.core.translation.language import translatable
from hob.core.values import dataclass
from hob.providers.catalog.catalog import WIRES
from hob.providers.http.headers import find_wrong_header

TASKS = ("summary", "facts", "observer", "reflector", "consolidation", "rewriting", "reranking", "sampling")
"""What a model of its own may be chosen for."""


@dataclass(frozen=True, slots=True)
class PriceSetting:
    """Dollars per million tokens. Cached tokens cost as much as others where nothing else is said.

    Of a listed model what is not given stays as listed. Elsewhere a price of which input or output is missing is no
    price: what is not given is unknown, never free.
    """

    input: float | None = setting(None, "Dollars per million tokens of input.", at_least=0)
    output: float | None = setting(None, "Dollars per million tokens of output.", at_least=0)
    cache_read: float | None = setting(None, "Dollars per million tokens read from the cache.", at_least=0)
    cache_write: float | None = setting(None, "Dollars per million tokens written to the cache.", at_least=0)


@dataclass(frozen=True, slots=True)
class ProviderSettings:
    """A provider of one's own, or other settings for a known one."""

    wire: str = setting("", "What it speaks; empty: what Hob knows of it, else openai.", one_of=("", *WIRES))
    base_url: str = setting("", "Its address; empty: its own.")
    api_key: Secret | None = setting(None, "Its key; empty: its usual variable.")
    api_keys: list[Secret] = setting([], "Further keys, asked in this order where one does not work.")
    headers: dict[str, str] = setting({}, "Further headers for each request.")
    model: str = setting("", "The model that is asked where only the provider is named.")
    local: bool | None = setting(None, "Whether it keeps what it is told on your machines; empty: as its address says.")
    tools: str = setting(
        "auto", "How tools are called: by the wire's own means, or in text.", one_of=("auto", "native", "text", "none")
    )
    images: bool | None = setting(None, "Whether its models see pictures; empty: they are tried.")
    small: bool | None = setting(None, "Whether its models get a short prompt and few tools; empty: by name.")
    command: str = setting("", "The program of a CLI provider; empty: its usual name.")
    arguments: list[str] = setting([], "Further arguments for a CLI provider's program.")
    environment: list[str] = setting([], "Names of further variables that a CLI provider's program may see.")

    def __post_init__(self) -> None:
        _check_address(self.base_url)
        _check_headers(self.headers)


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """The language models: which is asked, which stand in for it, where they are."""

    name: str = setting("", "The model, as provider/model or an alias; empty: what is found.", stored=True)
    fallbacks: list[str] = setting([], "Models that stand in for it, in this order.")
    aliases: dict[str, str] = setting({}, "Names of your own for models.")
    tasks: dict[str, str] = setting(
        {},
        "Models for tasks of their own: summary, facts, observer, reflector, consolidation, rewriting, reranking, "
        "sampling.",
    )
    thinking: str = setting(
        "", "How long models think before they answer; empty: as they like.", one_of=("", *Thinking), stored=True
    )
    base_url: str = setting(
        "", "Address of a server that speaks OpenAI chat completions; its models have bare names; empty: none."
    )
    api_key: Secret | None = setting(None, "Key of that server; local ones need none.")
    headers: dict[str, str] = setting({}, "Further headers for each request to that server.")
    providers: dict[str, ProviderSettings] = setting({}, "Providers of your own, or other settings for known ones.")
    embedding: str = setting(
        "", "The model that turns texts into vectors, or its folder; empty: memory finds by words alone."
    )
    reranking: str = setting("", "The model that rates texts for a question (POST /rerank); empty: memory asks none.")
    transcription: str = setting("", "The model that writes down speech; empty: the provider's usual one.")
    speech: str = setting("", "The model that speaks; empty: the provider's usual one.")
    voice: str = setting("", "Whose voice it has; empty: nova.")
    speech_format: str = setting("mp3", "How what it speaks is packed.", one_of=("mp3", "opus", "aac", "pcm"))
    image_generation: str = setting("", "The model that makes pictures; empty: the provider's usual one.")
    vision: str = setting(
        "", "The model that describes pictures for models that cannot see; empty: the one that answers, if it sees."
    )
    max_attempts: int = setting(
        4, "Requests that one answer may take, further models and keys not counted.", at_least=1, at_most=4
    )
    connect_seconds: float = setting(5.0, "Seconds to reach a server.", at_least=0.1, at_most=60)
    read_seconds: float = setting(600.0, "Seconds a connection may be silent at the very most.", at_least=1)
    prices: dict[str, PriceSetting] = setting(
        {}, "Prices of your own, before the known ones, by model; a name may end in *."
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
        raise ValueError(translatable("base_url is not a server's address; one looks like https://models.example/v1"))


def _check_headers(headers: Mapping[str, str]) -> None:
    wrong = find_wrong_header(headers)
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
