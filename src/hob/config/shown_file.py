"""The configuration file for people: its own text, without secrets."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hob.config.fields import find_setting, holds_secret, path_now
from hob.config.file import read_file
from hob.config.secrets import scheme_of

MASK = "•••"
_COMMENTED = re.compile(r"^(\s*#.*(?:key|token|secret|passw)\w*[\"']?\s*=).*$", re.IGNORECASE | re.MULTILINE)


def shown_text(path: Path, sections: Mapping[str, type]) -> str | None:
    """Return the file's text with `•••` for each secret, also in comments; references to secrets stay.

    Return None if there is no file. Raises ConfigInvalid.
    """
    file = read_file(path)
    if file is None:
        return None
    import tomlkit  # 60 ms that only this needs

    document, hidden = tomlkit.parse(file.text), set[str]()
    _hide(document, (), sections, hidden)
    text = tomlkit.dumps(document)
    for secret in hidden:
        text = text.replace(secret, MASK)
    return _COMMENTED.sub(rf"\1 {MASK}", text)


def _hide(table: Any, path: tuple[str, ...], sections: Mapping[str, type], hidden: set[str]) -> None:
    for name, value in list(table.items() if isinstance(table, dict) else enumerate(table)):
        inner = (*path, name) if isinstance(table, dict) else path
        if isinstance(value, dict | list):
            _hide(value, inner, sections, hidden)
        elif isinstance(value, str) and _may_be_secret(inner, sections) and not scheme_of(value):
            hidden.add(str(value))
            table[name] = MASK
    hidden.discard("")


def _may_be_secret(path: tuple[str, ...], sections: Mapping[str, type]) -> bool:
    """Return whether this key, or what is known of the tables above it, holds secrets; unknown sections may."""
    for length in range(len(path), 0, -1):
        setting = find_setting(sections, path_now(sections, path[:length]))
        if setting is not None:
            return holds_secret(setting.kind)
    return True
