"""Which model, where, with whose key, at what price."""

import pytest

from hob.core.models import Price
from hob.providers.addresses import endpoint, is_loopback
from hob.providers.settings import PriceSetting, SettingsPrices


@pytest.mark.parametrize(
    ("base_url", "address"),
    [
        ("https://api.openai.com/v1", "https://api.openai.com/v1/models"),
        ("https://api.openai.com", "https://api.openai.com/v1/models"),
        ("https://api.openai.com/v1/", "https://api.openai.com/v1/models"),
        ("http://localhost:11434", "http://localhost:11434/v1/models"),
        ("localhost:11434", "http://localhost:11434/v1/models"),
        ("example.org/api", "https://example.org/api/models"),
        ("https://openrouter.ai/api/v1", "https://openrouter.ai/api/v1/models"),
        ("http://127.0.0.1:8080/v1/chat/completions", "http://127.0.0.1:8080/v1/models"),
    ],
)
def test_a_base_url_may_be_written_in_many_ways(base_url: str, address: str) -> None:
    assert endpoint(base_url, "/models") == address


def test_loopback_is_this_machine_only() -> None:
    assert is_loopback("http://127.0.0.1:1")
    assert is_loopback("http://[::1]:1/v1")
    assert is_loopback("localhost:1")
    assert not is_loopback("http://localhost.example.org")
    assert not is_loopback("http://[broken")


PRICES = SettingsPrices(
    {
        "gpt-5-mini": PriceSetting(input=0.25, output=2.0, cache_read=0.025),
        "claude-*": PriceSetting(input=3, output=15),
        "claude-haiku-*": PriceSetting(input=1, output=5),
        "openrouter/auto": PriceSetting(input=9, output=9),
        "free-one": PriceSetting(input=0, output=0),
        "half-*": PriceSetting(input=1, output=1),
        "half-in": PriceSetting(input=1),
        "half-out": PriceSetting(output=1, cache_read=1),
    }
)


@pytest.mark.parametrize("name", ["gpt-5-mini", "openai/gpt-5-mini", "gpt-5-mini-2025-08-07", "a/gpt-5-mini-20250807"])
def test_a_price_is_found_without_provider_and_date(name: str) -> None:
    assert PRICES.find_price(name) == Price(250_000, 2_000_000, 25_000, 250_000)


def test_the_longest_pattern_wins() -> None:
    assert PRICES.find_price("anthropic/claude-haiku-4") == Price(1_000_000, 5_000_000, 1_000_000, 1_000_000)
    assert PRICES.find_price("claude-opus-4") == Price(3_000_000, 15_000_000, 3_000_000, 3_000_000)


@pytest.mark.parametrize("name", ["", "gpt-5", "gpt-5-mini-pro", "auto", "llama"])
def test_a_price_that_nobody_gave_is_unknown(name: str) -> None:
    assert PRICES.find_price(name) is None


@pytest.mark.parametrize("name", ["half-in", "half-out"])
def test_half_a_price_is_none(name: str) -> None:
    assert PRICES.find_price(name) is None


def test_a_price_of_zero_is_known() -> None:
    assert PRICES.find_price("free-one") == Price(0, 0, 0, 0)
