"""Embedding of memories in the background and of questions on demand."""

import asyncio
import logging
import math
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import islice

from hob.core.clock import Clock
from hob.core.errors import ModelError, ModelFault
from hob.core.ports.media import Embedder
from hob.core.translation.language import translatable
from hob.store.memory.vectors import StoredVectors

_log = logging.getLogger(__name__)
_BATCH = 32
_MAX_CHARACTERS = 8_000
"""Maximum characters of a text that are embedded."""
_MIN_CHARACTERS = 200
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n+")  # noqa: RUF001 - Chinese and Japanese marks
_MIN_SENTENCE_CHARACTERS, _MAX_SENTENCES = 15, 5
_MAX_MESSAGE_CHARACTERS = 2_500
"""Maximum characters of a message whose sentences get vectors of their own."""
_DEADLINE_SECONDS = 3.0
"""Seconds a question waits for its vector."""
_SILENCE_SECONDS = 30.0
"""Seconds after a failure during which the embedder is not asked to embed questions."""
_VERSION = "@sha256:"
"""Separates the model from its version in a fingerprint."""
_FIRST_WAIT, _LONGEST_WAIT = 1.0, 300.0


class MemoryEmbedder:
    """One embedder for memories and questions. The queue is durable: it is a position in the order of the items."""

    def __init__(
        self,
        embedder: Embedder,
        provider: str,
        model: str,
        vectors: StoredVectors,
        clock: Clock,
        former: Callable[[str], Embedder] | None = None,
        version: Callable[[], str] | None = None,
    ) -> None:
        """`former` returns the embedder of a reference, which serves questions while another one re-embeds everything.

        `version` returns the current version of the model, if it can change under the same name.
        """
        self._embedder = embedder
        self.provider, self.model = provider, model
        self._version = version
        self.name = model if model.startswith(("/", "~")) else f"{provider}/{model}"
        self._name = ""
        self._vectors = vectors
        self._clock = clock
        self._former = former
        self._arrived = asyncio.Event()
        self._caught_up = False
        self._failures = 0
        self._silent_until = -math.inf
        self.dimension = 0
        self.number = 0
        """The embedder's number in the store; 0 before the first call."""
        self.problem = ""
        """Why the last call failed; empty after a success."""
        self.checked = 0.0
        """Time of the last call (Unix seconds); 0 if there was none."""

    def notify(self) -> None:
        """Signal that there may be new items."""
        self._arrived.set()

    @property
    def fingerprint(self) -> str:
        """Identifier of the vectors. Lacks the dimension until that is known."""
        named = f"{self.provider}|{self.model}{self._version_mark()}"
        return f"{named}|{self.dimension}|true" if self.dimension else named

    async def reindex(self) -> int:
        """Drop all vectors, re-embed in the background and return how many there were. Raises StoreErrors."""
        dropped = await self._vectors.drop_all()
        self._caught_up, self._failures, self._silent_until = False, 0, -math.inf
        self.notify()
        return dropped

    async def embed_question(self, text: str) -> tuple[int, tuple[float, ...]]:
        """Return the question's vector, and the number of the embedder whose vectors it can be compared with.

        Raises ModelError, which the caller reports. After a failure the embedder is not called for a while.
        """
        if self._clock.monotonic() < self._silent_until:
            raise ModelError(ModelFault.OVERLOAD, self.problem, cost=0)
        self._check_version()
        number = await self._former_number()
        if number[0] and self._former is not None:
            with suppress(ModelError):
                return number[0], await _embed_within_deadline(self._former(number[1]), text)
        try:
            vector = await _embed_within_deadline(self._embedder, text)
        except ModelError as error:
            self._note(error)
            self._silent_until = self._clock.monotonic() + _SILENCE_SECONDS
            raise
        self.problem, self.checked = "", self._clock.now().timestamp()
        await self._begin(len(vector))
        return self.number, vector

    async def run(self) -> None:
        """Embed waiting and new items until cancelled. Retries after failures, with growing pauses."""
        while True:
            self._arrived.clear()
            while await self.embed_some():
                continue
            if self._failures:
                await self._clock.sleep(min(_LONGEST_WAIT, _FIRST_WAIT * 2 ** min(20, self._failures - 1)))
            else:
                await self._arrived.wait()

    async def embed_some(self) -> bool:
        """Embed the next batch; return whether there may be more. Raises StoreErrors; `problem` describes other
        failures.
        """
        self._check_version()
        self.number = number = self.number or await self._vectors.find(self._name)
        place = await self._vectors.place(number)
        pending = await self._vectors.pending(number, _BATCH)
        if not pending:
            if number and not self._caught_up:
                self._caught_up = True
                await self._vectors.drop_others(number)
            return False
        told = [each for each in pending if each.text.strip()]
        parts = {each.seq: _sentences(each.text) for each in told if each.from_person}
        texts = [each.text for each in told] + [sentence for some in parts.values() for sentence in some]
        try:
            vectors = await self._embed(texts)
        except ModelError as error:
            self._failures += 1
            self._note(error)
            return False
        self._failures, self.problem, self._silent_until = 0, "", -math.inf
        self.checked = self._clock.now().timestamp()
        if vectors:
            await self._begin(len(vectors[0]))
        if self.number != number:
            return True  # the pending items belonged to another embedder
        wholes = [(each.seq, vector) for each, vector in zip(told, vectors, strict=False)]
        left = iter(vectors[len(told) :])
        sentences = {seq: [*islice(left, len(some))] for seq, some in parts.items()}
        await self._vectors.keep(number, (place, pending[-1].seq), wholes, sentences)
        return True

    async def waiting(self) -> int:
        """Return the number of memories without a vector. Raises StoreErrors."""
        return (await self.counts())[1]

    async def place(self) -> int:
        """Return the last row that has a vector. Raises StoreErrors."""
        await self.counts()  # sets `number`
        return await self._vectors.place(self.number)

    async def counts(self) -> tuple[int, int]:
        """Return the numbers of memories with and without a vector. Raises StoreErrors."""
        self._check_version()
        self.number = self.number or await self._vectors.find(self._name)
        return await self._vectors.counts(self.number)

    async def serving(self) -> int:
        """Return the number of the embedder that currently serves questions; 0 if none does. Raises StoreErrors."""
        self._check_version()
        return (await self._former_number())[0] or self.number or await self._vectors.find(self._name)

    async def _former_number(self) -> tuple[int, str]:
        """Return the embedder whose vectors are complete while this one's are not, and its reference."""
        if self._caught_up or self._former is None:
            return 0, ""
        self.number = self.number or await self._vectors.find(self._name)
        number, fingerprint = await self._vectors.other(self.number)
        reference = "/".join(fingerprint.split("|")[:-2]).partition(_VERSION)[0]
        own = f"{self.provider}/{self.model}"
        return (0, "") if reference == own else (number, reference)  # the folder's former content is gone

    def _version_mark(self) -> str:
        version = self._version() if self._version is not None else ""
        return f"{_VERSION}{version}" if version else ""

    def _check_version(self) -> None:
        """Check whether the model has changed. If so, everything is embedded again."""
        name = f"{self.provider}|{self.model}{self._version_mark()}"
        if name != self._name:
            self._name, self.number, self.dimension, self._caught_up = name, 0, 0, False
            self.notify()

    def _note(self, error: ModelError) -> None:
        self.checked = self._clock.now().timestamp()
        if str(error) != self.problem:
            _log.warning("memories get no vectors: %s", error)
        self.problem = str(error) or error.fault.value

    async def _begin(self, dimension: int) -> None:
        """Make `number` refer to vectors of this dimension."""
        if dimension != self.dimension:
            self.number = await self._vectors.begin(f"{self._name}|{dimension}|true")
            self.dimension = dimension

    async def _embed(self, texts: Sequence[str], longest: int = _MAX_CHARACTERS) -> Sequence[tuple[float, ...]]:
        """Embed the texts, cutting those that are too long. Raises ModelError."""
        if not texts:
            return ()
        try:
            return (await self._embedder.embed([text[:longest] for text in texts])).vectors
        except ModelError as error:
            if error.fault is not ModelFault.CONTEXT_OVERFLOW or longest <= _MIN_CHARACTERS:
                raise
            return await self._embed(texts, longest // 4)


def _sentences(text: str) -> list[str]:
    """Return the last sentences of a message that has several; short ones are left out."""
    if len(text) > _MAX_MESSAGE_CHARACTERS:
        return []
    parts = (part.strip() for part in _SENTENCE_END.split(text))
    found = [part for part in parts if len(part) >= _MIN_SENTENCE_CHARACTERS]
    return found[-_MAX_SENTENCES:] if len(found) > 1 else []


async def _embed_within_deadline(embedder: Embedder, text: str) -> tuple[float, ...]:
    """Embed a question within the deadline. Raises ModelError."""
    try:
        async with asyncio.timeout(_DEADLINE_SECONDS):
            return (await embedder.embed([text])).vectors[0]
    except TimeoutError:
        raise ModelError(
            ModelFault.TIMEOUT,
            translatable("the embedder has not answered within {seconds:.0f} s", seconds=_DEADLINE_SECONDS),
        ) from None
