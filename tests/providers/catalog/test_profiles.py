"""What is known of a model by its name, its place and the list."""

import asyncio
from pathlib import Path

import pytest

from hob.core.models import ModelProfile
from hob.providers.catalog.price_table import PriceTable
from hob.providers.catalog.prices import ModelProfiles, parse_billions
from hob.providers.routing.choice import ModelChoice
from hob.providers.settings import ModelSettings, ProviderSettings

KEYS = {"OPENAI_API_KEY": "key", "GROQ_API_KEY": "key", "ANTHROPIC_API_KEY": "key"}


def profiles(folder: Path, **providers: ProviderSettings) -> ModelProfiles:
    return ModelProfiles(ModelChoice(ModelSettings(providers=providers), KEYS), PriceTable(folder / "prices.json"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("cache")
    asyncio.run(PriceTable(path / "prices.json").prepare())
    return path


def test_listed_model_has_its_window(folder: Path) -> None:
    assert profiles(folder).find_profile("anthropic/claude-sonnet-4-5").context_tokens == 200_000
    assert profiles(folder).find_profile("openai/gpt-5-mini").context_tokens == 400_000


@pytest.mark.parametrize("model", ["openai/no-such-model", "nobody/x", "ollama/gpt-oss:20b", ""])
def test_unknown_model_has_no_guessed_profile(folder: Path, model: str) -> None:
    assert profiles(folder).find_profile(model) == ModelProfile()


@pytest.mark.parametrize(
    ("model", "small"),
    [
        ("ollama/llama3.2", True),
        ("ollama/llama3.2:latest", True),
        ("ollama/qwen3:8b", True),
        ("ollama/qwen3:32b", False),
        ("ollama/llama3.3", False),
        ("ollama/gemma3n:e4b", True),
        ("groq/llama-3.1-8b-instant", True),
        ("groq/llama-3.3-70b-versatile", False),
        ("openai/gpt-5-mini", False),
    ],
)
def test_small_is_what_the_name_says(folder: Path, model: str, small: bool) -> None:
    assert profiles(folder).find_profile(model).small is small


def test_owner_says_what_is_small(folder: Path) -> None:
    found = profiles(folder, ollama=ProviderSettings(small=True), groq=ProviderSettings(small=False))
    assert found.find_profile("ollama/qwen3:32b").small
    assert not found.find_profile("groq/llama-3.1-8b-instant").small


@pytest.mark.parametrize(
    ("name", "billions"),
    [
        ("smollm2:135m", 0.135),
        ("qwen3-0.6b", 0.6),
        ("qwen3-30b-a3b", 30),
        ("mixtral-8x7b", None),
        ("gemma3n:e4b", 4),
        ("gpt-5-mini", None),
        ("phi-4b2", None),
    ],
)
def test_size_is_that_of_the_whole_model(name: str, billions: float | None) -> None:
    assert parse_billions(name) == billions


async def test_list_that_appears_later_is_used(tmp_path: Path) -> None:
    table = PriceTable(tmp_path / "prices.json")
    found = ModelProfiles(ModelChoice(ModelSettings(), KEYS), table)
    assert found.find_profile("openai/gpt-5-mini").context_tokens is None
    await table.prepare()
    assert found.find_profile("openai/gpt-5-mini").context_tokens == 400_000
