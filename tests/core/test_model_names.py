"""A model has many names; one place knows which."""

import pytest

from hob.core.model_names import iter_names, matches_model


def test_most_specific_name_comes_first() -> None:
    assert list(iter_names("openrouter/openai/gpt-5-2025-08-07")) == [
        "openrouter/openai/gpt-5-2025-08-07",
        "openai/gpt-5-2025-08-07",
        "gpt-5-2025-08-07",
        "openrouter/openai/gpt-5",
        "openai/gpt-5",
        "gpt-5",
    ]


@pytest.mark.parametrize("pattern", ["claude-x", "claude-*", "anthropic/claude-x", "anthropic/*", "*"])
def test_pattern_fits_every_name(pattern: str) -> None:
    assert matches_model(pattern, "anthropic/claude-x-20250929")


@pytest.mark.parametrize("pattern", ["", "claude", "laude-*", "x", "openai/*", "anthropic"])
def test_part_of_a_name_does_not_match(pattern: str) -> None:
    assert not matches_model(pattern, "anthropic/claude-x")
