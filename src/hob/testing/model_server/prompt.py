"""Contents of a request, independent of its protocol, and its cached part."""

import marshal
from collections.abc import Mapping, Sequence
from dataclasses import field
from hashlib import blake2b
from typing import Any, Literal

from hob.core.values import dataclass
from hob.testing.model_server.hypertext import Framing


@dataclass(frozen=True, slots=True)
class Turn:
    """One item of the conversation. A tool's result is always a separate item."""

    role: Literal["system", "user", "assistant", "tool"]
    text: str


@dataclass(frozen=True, slots=True)
class Prompt:
    """A request that its wire has checked.

    `segments` are the parts compared by a prompt cache, in the vendor's order; `marks` are the indexes of segments
    after which the request sets a cache mark, None if the vendor caches automatically. `thinks`: the model was asked to
    think; `shows`: and to show its reasoning. `framing` is the encoding of a streamed answer.
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
    """Input tokens of one request. `read` and `written` (cache) are included in `input`."""

    input: int
    read: int = 0
    written: int = 0


def count_tokens(prompt: Prompt) -> int:
    """Return the prompt's tokens, at about four bytes each."""
    return sum(len(marshal.dumps(segment, 2)) for segment in prompt.segments) // 4


@dataclass(slots=True)
class PromptCache:
    """Prefixes of earlier prompts. `least` (tokens) is the shortest prefix worth caching."""

    minimum: int = 1024
    _known: set[bytes] = field(default_factory=set)

    def count(self, prompt: Prompt) -> Tokens:
        """Count and remember a prompt, at about four bytes per token."""
        if len(self._known) > _MAX_KNOWN:
            self._known.clear()
        prefixes = _prefixes(prompt)
        total = prefixes[-1][1] if prefixes else 0
        if prompt.marks is None:
            return Tokens(total, self._by_itself(prefixes))
        return self._as_marked(prefixes, prompt.marks, total)

    def _by_itself(self, prefixes: Sequence[tuple[bytes, int]]) -> int:
        """Return the tokens read from the cache: any known prefix, in steps of 128 tokens, as OpenAI documents.

        https://platform.openai.com/docs/guides/prompt-caching
        """
        read = next((tokens for digest, tokens in reversed(prefixes) if digest in self._known), 0)
        self._known.update(digest for digest, tokens in prefixes if tokens >= self.minimum)
        return read if self.minimum < _STEP else read // _STEP * _STEP

    def _as_marked(self, prefixes: Sequence[tuple[bytes, int]], marks: Sequence[int], total: int) -> Tokens:
        """Return the tokens read and written: a mark reads the longest known prefix up to 20 blocks before it.

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
    """Return, after each segment, the digest and the tokens of everything so far."""
    hasher = blake2b(prompt.model.encode(), digest_size=12)
    size = 0
    found = []
    for segment in prompt.segments:
        data = marshal.dumps(segment, 2)  # version 2 writes equal values as equal bytes
        hasher.update(data)
        size += len(data)
        found.append((hasher.digest(), size // 4))
    return found
