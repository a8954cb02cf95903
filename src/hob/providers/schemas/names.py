"""Names of tools that every provider accepts, and the way back."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from hob.core.ids import digest
from hob.core.tools import ToolSpec

_LONGEST = 64
_KEPT = _LONGEST - 9  # an underscore and eight hexadecimal digits follow
# OpenAI, Anthropic and Mistral take [A-Za-z0-9_-]{1,64}; Gemini wants a letter or an underscore first.
_SAFE = re.compile(rf"[A-Za-z_][A-Za-z0-9_-]{{0,{_LONGEST - 1}}}")
_UNSAFE = re.compile(r"[^A-Za-z0-9_-]+")


@dataclass(frozen=True, slots=True)
class ToolNames:
    """Names of tools both ways; most are the same on both sides."""

    outgoing: Mapping[str, str]
    incoming: Mapping[str, str]

    def to_wire(self, name: str) -> str:
        """The name a provider is told; also for a tool that is no longer offered but stands in the history."""
        return self.outgoing.get(name) or _made_safe(name)

    def to_tool(self, name: str) -> str:
        """The tool a provider's name means; a name nobody offered stays as it is."""
        return self.incoming.get(name, name)


def safe_names(specs: Iterable[ToolSpec]) -> ToolNames:
    """A name of its own for each tool, of at most 64 letters, digits, `_` and `-`, a letter or `_` first.

    A safe name stays; another one does not depend on what else is offered, save where two would be the same.
    """
    offered = [spec.name for spec in specs]
    incoming = {name: name for name in offered if _SAFE.fullmatch(name)}
    outgoing = dict(incoming)
    for name in offered:
        if name in outgoing:
            continue
        safe = _made_safe(name)
        while safe in incoming:
            safe = _hashed(safe)
        outgoing[name] = safe
        incoming[safe] = name
    return ToolNames(outgoing, incoming)


def _made_safe(name: str) -> str:
    return name if _SAFE.fullmatch(name) else _hashed(name)


def _hashed(name: str) -> str:
    kept = _UNSAFE.sub("_", name)[: _KEPT - 1]
    if not kept[:1].isalpha() and kept[:1] != "_":
        kept = f"_{kept}"
    return f"{kept}_{digest(name.encode('utf-8', 'surrogatepass'))[:8]}"
