"""The model catalog: the configured models, and calls within the budget to those that do not chat."""

import random
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import aclosing, asynccontextmanager
from functools import cached_property
from typing import NamedTuple, TypeVar, cast

from hob.agent.budget.budget import Budget
from hob.core.clock import Clock
from hob.core.content.media import Description, Embeddings, GeneratedImage, RelevanceScores, Speech, SpeechTranscript
from hob.core.errors import BudgetExceeded, ModelError, ModelFault, NotFound
from hob.core.events.timeline import EventKind, TimelineEvent
from hob.core.ids import SessionKey, new_event_id, new_span_id, new_trace_id
from hob.core.models import ModelRequest, Thinking, Usage
from hob.core.translation.language import translatable
from hob.core.trust.labels import HOB_LABEL, SenderClass
from hob.providers.catalog.catalog import SERVER
from hob.providers.media.media import EMBEDDING, IMAGES, RERANKING, SPEECH, TRANSCRIPTION, VISION, Media
from hob.providers.routing.choice import ModelChoice
from hob.providers.settings import ModelSettings

T = TypeVar("T")
Made = TypeVar("Made", Embeddings, RelevanceScores, SpeechTranscript, Description, Speech, GeneratedImage)
_SESSION = SessionKey("api:embeddings")
_SOUND_PER_TOKEN = 200  # bytes of audio per token, a low estimate
_PICTURE_TOKENS = 3_000
_BYTES_PER_TOKEN = 2  # bytes of text per token, a low estimate: better to reserve too many tokens than too few


class MediaCall(NamedTuple):
    """A call to a model that does not chat: its payer, and an estimate of its tokens."""

    kind: str
    session: SessionKey
    sender: SenderClass
    tokens: int


class ModelNames:
    """The available models, by name."""

    def __init__(self, settings: ModelSettings, choice: ModelChoice) -> None:
        self._settings = settings
        self._choice = choice

    def names(self) -> Sequence[str]:
        """Return the default model, its fallbacks, the models of tasks and providers, and the aliases."""
        return tuple(dict.fromkeys((*self._references(), *self._choice.aliases)))

    def default(self) -> str:
        """Return the default model, as far as it is known without asking a server; otherwise empty."""
        return self._choice.default_name()

    def check(self, name: str, *, bare: bool = False) -> None:
        """Raise NotFound unless it is configured or a connected provider's model; `bare` names need not be listed."""
        try:
            ref = self._choice.resolve(name)
            if str(ref) in self.names() or name in self._choice.aliases:
                return
            # a server may offer any name, so unlisted ones count only if they name it
            if bare or ("/" in name and (ref.provider != SERVER or name.partition("/")[0] == SERVER)):
                self._choice.connect(ref.provider)
                return
            why: str = translatable("no model is called {name}", name=name)
        except ModelError as error:
            why = str(error)
        raise NotFound(translatable("{why}; `hob` is Hob's own choice, and GET /v1/models tells the others", why=why))

    def _references(self) -> Iterator[str]:
        settings = self._settings
        named = (settings.name, *settings.fallbacks, *settings.tasks.values())
        of_providers = (f"{id}/{own.model}" for id, own in settings.providers.items() if own.model)
        if usual := self.default():
            yield usual
        for name in filter(None, (*named, *of_providers)):
            try:
                yield str(self._choice.resolve(name))
            except ModelError:  # reported by `hob models list` and `hob doctor`
                continue


class ModelCatalog(ModelNames):
    """Implements the gateway's `Models`. Calls are kept within the spending limits and recorded in the ledger."""

    def __init__(
        self, settings: ModelSettings, choice: ModelChoice, budget: Budget, clock: Clock, session: SessionKey = _SESSION
    ) -> None:
        """The ledger records its calls under `session`."""
        super().__init__(settings, choice)
        self._session = session
        self._budget = budget
        self._clock = clock

    def embedding(self, name: str = "") -> str:
        """Return the reference of the embedding model. Raises ModelError if there is none, NotFound if `name` is
        another one.
        """
        ref = self._media.find(EMBEDDING)
        if isinstance(ref, ModelError):
            raise ref
        if name and name != ref.model:
            try:
                meant = self._choice.resolve(name)
            except ModelError:
                meant = None
            if meant != ref:
                raise NotFound(
                    translatable("vectors are made by {ref} here: send `hob`, or set model.embedding", ref=ref)
                )
        return str(ref)

    async def embed(self, texts: Sequence[str], sender: SenderClass) -> Embeddings:
        """Embed texts within this sender's spending limits. Raises ModelError."""
        self.embedding()
        tokens = sum(len(text.encode()) for text in texts) // _BYTES_PER_TOKEN + len(texts)
        caller = MediaCall(EMBEDDING, self._session, sender, tokens)
        return await self._budgeted(caller, lambda: _require(self._media.embedder).embed(texts))

    async def rerank(self, question: str, texts: Sequence[str], sender: SenderClass) -> RelevanceScores:
        """Rate how relevant each text is to the question, within the limits. Raises ModelError."""
        tokens = sum(len(text.encode()) + len(question.encode()) for text in texts) // _BYTES_PER_TOKEN
        caller = MediaCall(RERANKING, self._session, sender, tokens)
        return await self._budgeted(caller, lambda: _require(self._media.reranker).rerank(question, texts))

    async def transcribe(
        self, audio: bytes, media_type: str, session: SessionKey, sender: SenderClass
    ) -> SpeechTranscript:
        """Transcribe audio within this sender's spending limits. Raises ModelError."""
        caller = MediaCall(TRANSCRIPTION, session, sender, len(audio) // _SOUND_PER_TOKEN)
        return await self._budgeted(caller, lambda: _require(self._media.transcriber).transcribe(audio, media_type))

    async def describe(
        self, image: bytes, media_type: str, question: str, session: SessionKey, sender: SenderClass
    ) -> Description:
        """Describe an image within the limits. Raises ModelError."""
        caller = MediaCall(VISION, session, sender, _PICTURE_TOKENS)
        return await self._budgeted(
            caller, lambda: _require(self._media.describer).describe(image, media_type, question)
        )

    async def speak(self, text: str, voice: str, session: SessionKey, sender: SenderClass) -> Speech:
        """Turn text into speech within the limits. Raises ModelError."""

        async def spoken() -> Speech:
            speaker = _require(self._media.speaker)
            async with aclosing(cast("AsyncGenerator[bytes]", speaker.speak(text, voice))) as pieces:
                return Speech(b"".join([piece async for piece in pieces]), speaker.media_type)

        tokens = len(text.encode()) // _BYTES_PER_TOKEN
        return await self._budgeted(MediaCall(SPEECH, session, sender, tokens), spoken)

    async def draw(self, prompt: str, size: str, session: SessionKey, sender: SenderClass) -> GeneratedImage:
        """Generate an image within the limits. Raises ModelError."""
        tokens = len(prompt.encode()) // _BYTES_PER_TOKEN + _PICTURE_TOKENS
        caller = MediaCall(IMAGES, session, sender, tokens)
        return await self._budgeted(caller, lambda: _require(self._media.image_generator).generate(prompt, size))

    async def _budgeted(self, call: MediaCall, ask: Callable[[], Awaitable[Made]]) -> Made:
        found = self._media.find(call.kind)
        if isinstance(found, ModelError):
            raise found
        name = str(found)
        request = ModelRequest(name, "", (), max_tokens=0, task=call.kind, thinking=Thinking.OFF)
        began = self._clock.monotonic()
        try:
            async with self._budget.reserve(call.session, call.sender, request, call.tokens) as held:
                try:
                    made = await ask()
                except ModelError as error:
                    cost = self._budget.cost_of_failure(held, error)
                    await self._record(call, name, error.fault.value, began, cost)
                    raise
                cost = self._budget.cost_of(name, made.usage)
                await self._record(call, name, "ok", began, cost, made.usage)
        except BudgetExceeded as error:
            raise ModelError(ModelFault.BUDGET, str(error), cost=0) from error
        return made

    async def aclose(self) -> None:
        """Close all connections, if any were opened."""
        if "_media" in self.__dict__:
            await self._media.aclose()

    @cached_property
    def _media(self) -> Media:
        return Media(self._settings, self._choice, self._clock, random.random)

    async def _record(
        self, call: MediaCall, name: str, status: str, began: float, cost: int | None, usage: Usage | None = None
    ) -> None:
        event = TimelineEvent(
            new_event_id(),
            new_trace_id(),
            new_span_id(),
            None,
            self._clock.now().timestamp(),
            EventKind.MODEL,
            name,
            status,
            session=call.session,
            classification=f"{call.sender}/{call.kind}",
            label=HOB_LABEL,
            seconds=self._clock.monotonic() - began,
            usage=usage,
            cost=cost,
        )
        await self._budget.ledger.record(event)


def _require(found: T | None) -> T:
    assert found is not None  # noqa: S101 - `find` has checked it
    return found


@asynccontextmanager
async def open_model_catalog(
    settings: ModelSettings, choice: ModelChoice, budget: Budget, clock: Clock
) -> AsyncIterator[ModelCatalog]:
    """Yield a catalog that connects with its first request."""
    async with aclosing(ModelCatalog(settings, choice, budget, clock)) as model_catalog:
        yield model_catalog
