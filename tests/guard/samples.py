"""The labelled messages on which the scanner is measured."""

import base64
import codecs
import textwrap
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

DATA = Path(__file__).parent / "data"


@dataclass(frozen=True, slots=True)
class Sample:
    """A message. `group` is the attempted attack, or the kind of author of a harmless one."""

    group: str
    text: str
    hostile: bool


def _selected(text: str) -> str:
    return "".join(chr(0xFE00 + byte if byte < 16 else 0xE0100 + byte - 16) for byte in text.encode())


def _widths(text: str) -> str:
    bits = "".join(f"{byte:08b}" for byte in text.encode())
    return bits.translate({ord("0"): "\u200b", ord("1"): "\u200c"})


def _base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


ENCODINGS: Mapping[str, Callable[[str], str]] = {
    "": str,
    "base64": _base64,
    "base64_twice": lambda text: _base64(_base64(text)),
    "base64_lines": lambda text: "\n".join(textwrap.wrap(_base64(text), 24)),
    "hex": lambda text: text.encode().hex(),
    "rot13": lambda text: codecs.encode(text, "rot13"),
    "url": lambda text: quote(text, safe=""),
    "escapes": lambda text: "".join(f"\\u{ord(sign):04x}" for sign in text),
    "entities": lambda text: "".join(f"&#{ord(sign)};" for sign in text),
    "reversed": lambda text: text[::-1],
    "tags": lambda text: "".join(chr(0xE0000 + ord(sign)) for sign in text),
    "selectors": _selected,
    "widths": _widths,
}


def _read(name: str) -> dict[str, Any]:
    return tomllib.loads((DATA / name).read_text("utf-8"))


def _wrapped(entry: Mapping[str, str]) -> str:
    return entry.get("around", "{}").replace("{}", ENCODINGS[entry.get("encode", "")](entry["text"]))


@cache
def known_samples() -> tuple[Sample, ...]:
    """Return the samples used to write the rules."""
    hostile = _read("hostile_messages.toml").items()
    benign = _read("benign_messages.toml").items()
    return tuple(
        [Sample(family, _wrapped(entry), True) for family, entries in hostile for entry in entries]
        + [Sample(group, text, False) for group, texts in benign for text in texts]
    )


@cache
def unseen_samples() -> tuple[Sample, ...]:
    """Return the samples not used to write the rules."""
    found = _read("unseen_messages.toml")
    return tuple(Sample(kind, text, kind == "hostile") for kind in ("hostile", "benign") for text in found[kind])
