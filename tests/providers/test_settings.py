"""Addresses as people write them."""

import pytest

from hob.providers.addresses import endpoint, is_loopback
from hob.providers.settings import ModelSettings, ProviderSettings


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


@pytest.mark.parametrize("section", [ModelSettings, ProviderSettings])
@pytest.mark.parametrize("address", ["not a url", "ftp://x", "http://", "/v1", "https:// x"])
def test_what_is_no_address_is_refused_with_the_settings(section: type, address: str) -> None:
    with pytest.raises(ValueError, match="base_url is no address of a server"):
        section(base_url=address)


@pytest.mark.parametrize("address", ["", "localhost:11434", " https://a.example/v1 ", "HTTP://[::1]:8080", "10.0.0.7"])
def test_what_may_be_an_address_is_taken(address: str) -> None:
    assert ModelSettings(base_url=address).base_url == address
