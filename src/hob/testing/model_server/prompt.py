"""What a request says, whichever protocol it came by, and how much of it was said before."""

import marshal
from collections.abc import Mapping, Sequence
from dataclasses import field
from hashlib import blake2b
from typing import Any, Literal

from hob.core.values import dataclass
from hob.testing.model_server.hypertext import Framing


@dataclass(frozen=True, slots=True)
class Turn:
    """One thing that was said. A tool's result is one of its own, wherever the protocol puts it."""

    role: Literal["system", "user", "assistant", "tool"]
    text: str


@dataclass(frozen=True, slots=True)
class Prompt:
    """A request that its wire has checked.

    `segments` are the parts a prompt cache compares, in the vendor's order; `marks` are the numbers of the segments
    after which the request asks for a cache, None where the vendor caches by itself. `thinks`: the model was asked to
    think before it answers; `shows`: it was asked to show that. `framing` is how a streamed answer is written.
    """

    model: str
    stream: bool
    request: Mapping[str, Any]
    turns: Sequence[Turn]
    segments: Sequence[Any] = ()
    marks: Sequence[int] | None = None
    thinks: bool = False
    shows: bool = True
    framing: Framing = Framing.SSE


@dataclass(frozen=True, slots=True)
class Tokens:
    """Input of one request. `read` and `written` (cache) are part of `input`."""

    input: int
    read: int = 0
    written: int = 0


def count(prompt: Prompt) -> int:
    """The prompt's tokens, about four bytes to each."""
    return sum(len(marshal.dumps(segment, 2)) for segment in prompt.segments) // 4


@dataclass(slots=True)
class PromptCache:
    """The beginnings of prompts that were sent before. `least` (tokens) is the shortest one worth keeping."""

    minimum: int = 1024
    _known: set[bytes] = field(default_factory=set)

    def count(self, prompt: Prompt) -> Tokens:
        """Counts a prompt, about four bytes to the token, and remembers it."""
        if len(self._known) > _MAX_KNOWN:
            self._known.clear()
        prefixes = _prefixes(prompt)
        total = prefixes[-1][1] if prefixes else 0
        if prompt.marks is None:
            return Tokens(total, self._by_itself(prefixes))
        return self._as_marked(prefixes, prompt.marks, total)

    def _by_itself(self, prefixes: Sequence[tuple[bytes, int]]) -> int:
        """Any known beginning counts, in steps of 128 tokens, as OpenAI documents it.

        https://platform.openai.com/docs/guides/prompt-caching
        """
        read = next((tokens for digest, tokens in reversed(prefixes) if digest in self._known), 0)
        self._known.update(digest for digest, tokens in prefixes if tokens >= self.minimum)
        return read if self.minimum < _STEP else read // _STEP * _STEP

    def _as_marked(self, prefixes: Sequence[tuple[bytes, int]], marks: Sequence[int], total: int) -> Tokens:
        """A mark reads the longest known beginning up to 20 blocks before it, and writes the rest up to itself.

        https://platform.claude.com/docs/en/build-with-claude/prompt-caching
        """
        read = 0
        for mark in marks:
            for digest, tokens in prefixes[max(0, mark - _LOOK_BACK) : mark + 1]:
                if digest in self._known:
                    read = max(read, tokens)
        worth = [prefixes[mark] for mark in marks if prefixes[mark][1] >= self.minimum]
        self._known.update(digest for digest, _ in worth)
        written = max((tokens for _, tokens in worth), default=0) - read
        return Tokens(total, read, max(0, written))


_MAX_KNOWN = 200_000
_STEP = 128
_LOOK_BACK = 20


def _prefixes(prompt: Prompt) -> list[tuple[bytes, int]]:
    """After each segment: the digest of all up to it, and their tokens."""
    hasher = blake2b(prompt.model.encode(), digest_size=12)
    size = 0
    found = []
    for segment in prompt.segments:
        data = marshal.dumps(segment, 2)  # version 2 writes equal values as equal bytes
        hasher.update(data)
        size += len(data)
        found.append((hasher.digest(), size // 4))
    return found
