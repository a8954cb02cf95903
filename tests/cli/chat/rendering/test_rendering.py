"""Rendered Markdown in the chat."""

from hob.cli.chat.rendering.renderer import Renderer


def rows(block: str, width: int = 40) -> list[str]:
    """Return the text of each line."""
    return ["".join(text for _, text in line).rstrip() for line in Renderer().render(block, width)]


def test_list_numbers_keep_their_dots_and_are_aligned() -> None:
    assert rows("1. one\n2. two\n") == ["1. one", "2. two"]
    listed = rows("".join(f"{n}. item\n" for n in range(9, 12)))
    assert listed == [" 9. item", "10. item", "11. item"]
    assert rows("1. a first item that is longer than the line\n", 20) == [
        "1. a first item that",
        "   is longer than",
        "   the line",
    ]


def test_code_is_shown_below_its_language_without_fences() -> None:
    assert rows("```python\nx = 1\n```\n") == ["── python", "x = 1", "──"]
    assert rows("```\nplain\n```\n") == ["──", "plain", "──"]
