"""The prompt's history."""

import asyncio
from pathlib import Path

from hob.cli.chat.input.history import KeptHistory


def history(file: Path) -> KeptHistory:
    return KeptHistory(
        file,
        mask=lambda text: text.replace("secret", "[removed]"),
        shorten=lambda text: text.replace("long", "[short]"),
    )


def entries(kept: KeptHistory) -> list[str]:
    async def load() -> list[str]:
        return [entry async for entry in kept.load()]

    return asyncio.run(load())


def test_history_is_private_masked_and_newest_first(tmp_path: Path) -> None:
    file = tmp_path / "history"
    first = history(file)
    assert entries(first) == []
    for text in ("one\ntwo", "my secret", "a long one", "a long one"):
        first.keep(text)
    assert entries(first) == ["a [short] one", "my secret", "one\ntwo"]
    assert entries(history(file)) == ["a [short] one", "my [removed]", "one\ntwo"]
    assert file.stat().st_mode & 0o777 == 0o600
    assert "secret" not in file.read_text()


def test_wide_permissions_of_the_history_are_restricted(tmp_path: Path) -> None:
    file = tmp_path / "history"
    file.touch(0o644)
    history(file).keep("one")
    assert file.stat().st_mode & 0o777 == 0o600


def test_damaged_history_loses_only_its_damaged_lines(tmp_path: Path) -> None:
    file = tmp_path / "history"
    file.write_bytes(b'"one"\n\xff\xfe{"a": 1}\n[1]\n"cut\n"two"\n')
    assert entries(history(file)) == ["two", "one"]


def test_history_has_a_limited_length(tmp_path: Path) -> None:
    file = tmp_path / "history"
    file.write_text("".join(f'"{n}"\n' for n in range(5_000)))
    assert entries(history(file))[:2] == ["4999", "4998"]
    assert len(file.read_text().split()) == 1_000


def test_chat_continues_when_the_history_cannot_be_written(tmp_path: Path) -> None:
    kept = history(tmp_path / "none" / "history")
    kept.keep("one")
    assert entries(kept) == []


def test_history_behind_a_link_is_not_followed(tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.touch()
    (tmp_path / "history").symlink_to(target)
    history(tmp_path / "history").keep("one")
    assert target.read_text() == ""
