"""Addresses as people write them."""

import pytest

from hob.providers.http.addresses import endpoint_url, is_loopback
from hob.providers.http.headers import find_secrets
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
def test_base_url_may_be_written_in_many_ways(base_url: str, address: str) -> None:
    assert endpoint_url(base_url, "/models") == address


def test_loopback_is_this_machine_only() -> None:
    assert is_loopback("http://127.0.0.1:1")
    assert is_loopback("http://[::1]:1/v1")
    assert is_loopback("localhost:1")
    assert not is_loopback("http://localhost.example.org")
    assert not is_loopback("http://[broken")


@pytest.mark.parametrize("section", [ModelSettings, ProviderSettings])
@pytest.mark.parametrize("address", ["not a url", "ftp://x", "http://", "/v1", "https:// x"])
def test_wrong_address_is_refused_with_the_settings(section: type, address: str) -> None:
    with pytest.raises(ValueError, match="is not a server's address"):
        section(base_url=address)


@pytest.mark.parametrize("section", [ModelSettings, ProviderSettings])
@pytest.mark.parametrize(("name", "value"), [("x-title", "Höb"), ("x-team", "two\nlines"), ("x a", "b"), ("x-a", "b ")])
def test_header_that_cannot_be_sent_is_refused_by_its_name_alone(section: type, name: str, value: str) -> None:
    with pytest.raises(ValueError, match=f"headers.{name} cannot be sent") as caught:
        section(headers={name: value})
    assert value not in str(caught.value).split()


def test_words_in_headers_are_no_secrets() -> None:
    headers = {"x-title": "Hob", "x-env": "prod", "authorization": "Token a-long-secret"}
    assert find_secrets(headers) == ("Token a-long-secret", "a-long-secret")


def test_headers_may_hold_what_can_be_sent() -> None:
    headers = {"X-Title": "Hob & friends", "authorization": "Token a.b/c==", "x-none": "", "x-tab": "a\tb"}
    assert ModelSettings(headers=headers).headers == headers


@pytest.mark.parametrize("address", ["", "localhost:11434", " https://a.example/v1 ", "HTTP://[::1]:8080", "10.0.0.7"])
def test_valid_address_is_taken(address: str) -> None:
    assert ModelSettings(base_url=address).base_url == address
