"""What comes back from a model, before anybody sees it."""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from dataclasses import replace
from typing import cast

from hob.core.errors import ModelError, ModelFault
from hob.core.models import Beat, ModelEvent, ModelReply, ModelRequest, ReasoningDelta, Stop, TextDelta
from hob.core.screening.detectors import find
from hob.core.screening.kinds import PII, SECRETS
from hob.core.screening.patterns import compile_pattern
from hob.core.tools import ToolCall
from hob.providers.screening.arguments import change_texts
from hob.providers.screening.cleaning import EndMarks, Images, Limit, Redaction, Stage, Thoughts, removed
from hob.providers.screening.own_words import all_own_words
from hob.providers.screening.settings import ImagePolicy as ImageRule
from hob.providers.screening.settings import SanitizerSettings

_BEAT = Beat()


class Sanitizer:
    """Cleans answers as they come. What is to be withheld or taken out is shown to nobody first.

    With patterns in `deny` that means that nothing of an answer is shown before all of it is there.
    """

    def __init__(self, settings: SanitizerSettings) -> None:
        self._settings = settings
        self._deny = [compile_pattern(pattern) for pattern in settings.deny]
        self._kinds = (SECRETS if settings.secrets else frozenset()) | (PII if settings.pii else frozenset())

    @property
    def active(self) -> bool:
        """Whether it does anything; if not, leave it out."""
        settings = self._settings
        images = settings.images is not ImageRule.KEEP
        return bool(self._deny or self._kinds or settings.artefacts or images or settings.max_chars)

    async def clean(self, request: ModelRequest, events: AsyncIterator[ModelEvent]) -> AsyncGenerator[ModelEvent]:
        """The events of the answer to this request. Raises ModelError (FILTERED) where `deny` finds something.

        Its usage is told even then: the reply comes without its words, then the error.
        """
        cleaning = _Cleaning(self._stages(request), self._kinds)
        async with aclosing(cast("AsyncGenerator[ModelEvent]", events)) as source:
            async for event in source:
                kind = type(event)
                if self._deny and (kind is TextDelta or kind is ReasoningDelta):
                    yield _BEAT
                elif kind is TextDelta:
                    for cleaned in cleaning.text(cast(TextDelta, event)):
                        yield cleaned
                elif kind is ReasoningDelta:
                    for thought in cleaning.thought(cast(ReasoningDelta, event)):
                        yield thought
                elif kind is ModelReply:
                    reply = cast(ModelReply, event)
                    if self._is_denied(reply):
                        yield replace(reply, text="", reasoning="", calls=(), continuation=None, stop=Stop.FILTER)
                        raise ModelError(
                            ModelFault.FILTERED, "the answer has what sanitizer.deny forbids", attempts=reply.attempts
                        )
                    for last in cleaning.reply(reply):
                        yield last
                else:
                    yield event

    def _stages(self, request: ModelRequest) -> tuple[Stage, ...]:
        settings = self._settings
        stages: list[Stage] = [Thoughts(), EndMarks()] if settings.artefacts else []
        if settings.images is not ImageRule.KEEP:
            stages.append(Images(all_own_words(request)))
        if self._kinds:
            stages.append(Redaction(self._kinds))
        if settings.max_chars:
            stages.append(Limit(settings.max_chars, settings.suffix))
        return tuple(stages)

    def _is_denied(self, reply: ModelReply) -> bool:
        texts = (reply.text, reply.reasoning, *(call.arguments for call in reply.calls))
        return any(pattern.search(text) for pattern in self._deny for text in texts)


class _Cleaning:
    """One answer on its way through the stages."""

    def __init__(self, stages: tuple[Stage, ...], kinds: frozenset[str]) -> None:
        self._stages = stages
        self._thoughts = next((stage for stage in stages if isinstance(stage, Thoughts)), None)
        self._aside = Redaction(kinds) if kinds else None
        self._kinds = kinds
        self._came = 0
        self._texts: list[str] = []
        self._reasoning: list[str] = []

    def text(self, event: TextDelta) -> list[ModelEvent]:
        """What is shown of a piece of text."""
        self._came += len(event.text)
        piece = event.text
        for stage in self._stages:
            piece = stage.feed(piece)
        events = self._thought_of()
        if piece:
            self._texts.append(piece)
            events.append(event if piece is event.text else TextDelta(piece))
        return events

    def thought(self, event: ReasoningDelta) -> list[ModelEvent]:
        """What is shown of a piece of reasoning."""
        if self._aside is None:
            self._reasoning.append(event.text)
            return [event]
        piece = self._aside.feed(event.text)
        self._reasoning.append(piece)
        return [ReasoningDelta(piece)] if piece else []

    def _thought_of(self) -> list[ModelEvent]:
        """What a stage took for reasoning."""
        if self._thoughts is None or not self._thoughts.reasoning:
            return []
        taken, self._thoughts.reasoning = self._thoughts.reasoning, ""
        return self.thought(ReasoningDelta(taken))

    def reply(self, reply: ModelReply) -> list[ModelEvent]:
        """The end: what was held back, and the whole answer, which is what was shown."""
        events: list[ModelEvent] = []
        if self._came != len(reply.text):  # it came in no pieces, or in others
            events += self.text(TextDelta(reply.text[self._came :] if self._came else reply.text))
        if not self._reasoning and reply.reasoning:
            self.thought(ReasoningDelta(reply.reasoning))
        events += self._rest()
        calls = tuple(self._call(call) for call in reply.calls)
        text, reasoning = "".join(self._texts), "".join(self._reasoning)
        return [*events, replace(reply, text=text, reasoning=reasoning, calls=calls)]

    def _rest(self) -> list[ModelEvent]:
        rest = ""
        for stage in self._stages:
            rest = (stage.feed(rest) if rest else "") + stage.finish()
        events = self._thought_of()
        if self._aside is not None and (thought := self._aside.finish()):
            self._reasoning.append(thought)
            events.append(ReasoningDelta(thought))
        if rest:
            self._texts.append(rest)
            events.append(TextDelta(rest))
        return events

    def _call(self, call: ToolCall) -> ToolCall:
        if not self._kinds:
            return call
        return replace(call, arguments=change_texts(call.arguments, self._redact))

    def _redact(self, name: str, text: str) -> str:
        before = f"{name}: " if name else ""
        whole = before + text
        for finding in reversed(find(whole, self._kinds)):
            if finding.end > len(before):
                start = max(finding.start, len(before))
                whole = whole[:start] + removed(finding.kind) + whole[finding.end :]
        return whole[len(before) :]
