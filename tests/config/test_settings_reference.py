"""The reference names every key."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from docs.settings_page import reference

from hob.core.settings import Secret, setting


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


@dataclass(frozen=True, slots=True)
class Price:
    """A price."""

    input: float


@dataclass(frozen=True, slots=True)
class Tls:
    """Certificates."""

    cert: Path | None = setting(None, "Certificate.")


@dataclass(frozen=True, slots=True)
class Web:
    """The web. It is wide."""

    port: int = setting(80, "Port of the web.", at_least=0, at_most=65535)
    folder: Path = setting(Path("~/hob"), "Folder.")
    token: Secret | None = setting(None, "Token.")
    colour: Colour = setting(Colour.RED, "a|b.", stored=True)
    prices: dict[str, Price] = setting({}, "Prices.")
    names: list[str] = setting([], "Names.")
    tls: Tls = setting(Tls(), "TLS.")


SECTIONS: Mapping[str, type] = {"web": Web}


def test_every_key_is_a_row_with_default_variable_bounds_and_meaning() -> None:
    rows = reference(SECTIONS).splitlines()
    assert rows[rows.index("## `[web]`") + 2] == "The web. It is wide."
    assert [row for row in rows if row.startswith("| `")] == [
        "| `web.port` | whole number | `80` | `HOB_WEB_PORT` | ≥ 0, ≤ 65535 | Port of the web. |",
        "| `web.folder` | path | `~/hob` | `HOB_WEB_FOLDER` |  | Folder. |",
        "| `web.token` | secret, or nothing | nothing | `HOB_WEB_TOKEN` |  | Token. |",
        "| `web.colour` | one word | `red` | `HOB_WEB_COLOUR` | `red`, `blue` | a\\|b. May be changed at run time. |",
        "| `web.prices` | table of table | empty | `HOB_WEB_PRICES` |  | Prices. |",
        "| `web.prices.NAME.input` | number | required |  |  |  |",
        "| `web.names` | list of text | empty | `HOB_WEB_NAMES` |  | Names. |",
        "| `web.tls.cert` | path, or nothing | nothing | `HOB_WEB_TLS_CERT` |  | Certificate. |",
    ]
