"""The sanitizer: cleans model answers before anyone sees them."""

import re
from collections.abc import AsyncGenerator, AsyncIterator, Collection
from contextlib import aclosing
from dataclasses import replace
from typing import cast

from hob.core.content.user_text import extract_all_user_text
from hob.core.errors import ModelError, ModelFault
from hob.core.models import KeepAlive, ModelEvent, ModelReply, ModelRequest, ReasoningDelta, StopReason, TextDelta
from hob.core.screening.detectors import find_sensitive, lower, merge
from hob.core.screening.kinds import PII, SECRETS, SensitiveFinding
from hob.core.screening.patterns import compile_pattern
from hob.core.tools import ToolCall
from hob.core.translation.language import translatable
from hob.guard.screening.model_calls.settings import ImagePolicy as ImageRule
from hob.guard.screening.model_calls.settings import SanitizerSettings
from hob.guard.screening.model_texts import TextStream, change_texts

# Streaming stages. Each holds back only what it cannot judge yet, within its documented limit. The total output of a
# stage, including `finish`, does not depend on how the text was split.


def unfinished(text: str, words: Collection[str]) -> int:
    """Return where the text may end with the beginning of one of these words, or the text's length if it does not."""
    longest = max(map(len, words)) - 1
    for at in range(max(0, len(text) - longest), len(text)):
        if any(word.startswith(text[at:]) for word in words):
            return at
    return len(text)


_OPEN, _CLOSED = ("<think>", "<thinking>"), ("</think>", "</thinking>")


class ThinkingFilter:
    """Removes a `<think>` block at the beginning of a text and collects it in `reasoning`.

    Holds back eleven characters. A block elsewhere is part of the content and is kept.
    """

    def __init__(self) -> None:
        self._held = ""
        self._state = "start"
        self.reasoning = ""

    def feed(self, piece: str) -> str:
        """Add a piece; return the text that can be released."""
        if self._state == "text":
            return piece
        text = self._held + piece
        self._held = ""
        if self._state == "start":
            begun = text.lstrip()
            if not begun or (unfinished(begun, _OPEN) == 0 and begun not in _OPEN):
                self._held = text
                return ""
            tag = next((tag for tag in _OPEN if begun.startswith(tag)), "")
            self._state = "thinking" if tag else "text"
            text = begun[len(tag) :] if tag else text
        if self._state == "thinking":
            text = self._think(text)
        if self._state == "after":
            text = text.lstrip()
            self._state = "text" if text else "after"
        return text

    def _think(self, text: str) -> str:
        ends = [(at, tag) for tag in _CLOSED if (at := text.find(tag)) >= 0]
        if ends:
            at, tag = min(ends)
            self.reasoning += text[:at]
            self._state = "after"
            return text[at + len(tag) :]
        at = unfinished(text, _CLOSED)
        self.reasoning += text[:at]
        self._held = text[at:]
        return ""

    def finish(self) -> str:
        """Return the rest at the end of the text."""
        held, self._held = self._held, ""
        if self._state == "thinking":
            self.reasoning += held
            return ""
        return held


_MARK = (
    r"(?><\|(?:im_end|endoftext|eot_id|end_of_text|eom_id|end|return|EOT)\|>|</s>|<end_of_turn>"
    r"|<\uff5cend\u2581of\u2581sentence\uff5c>)"
)
_MARKS = re.compile(rf"(?:{_MARK}\s{{0,4}}+){{1,8}}+$")
_MAYBE_MARKS = re.compile(rf"(?:{_MARK}\s{{0,4}}+){{0,8}}+(?:<[\w|/\uff5c\u2581]{{0,24}}+)?$")


class EndMarkFilter:
    """Removes a model's end-of-turn marks from the end of a text. Holds back text that may be such a mark."""

    def __init__(self) -> None:
        self._held = ""

    def feed(self, piece: str) -> str:
        """Add a piece; return the text that can be released."""
        if not self._held and "<" not in piece:
            return piece
        text = self._held + piece
        at = text.find("<")
        while at >= 0 and _MAYBE_MARKS.match(text, at) is None:
            at = text.find("<", at + 1)
        at = len(text) if at < 0 else at
        self._held = text[at:]
        return text[:at]

    def finish(self) -> str:
        """Return the rest at the end of the text."""
        held, self._held = self._held, ""
        return _MARKS.sub("", held)


class ImageFilter:
    """Replaces an image by its address, unless `own_words` name its host.

    An answer could exfiltrate data in an image address, which a client would load immediately.
    """

    _BEGINNINGS = ("![", "<img")
    _BEGINNING = re.compile(r"!\[|<img(?![a-z])", re.IGNORECASE)
    _INLINE = re.compile(r"!\[([^\]]{0,300}+)\]\(\s{0,4}+<?+([^)\s>]{1,1000}+)[^)]{0,200}+\)")
    _TAG = re.compile(r"<img(?![a-z])[^>]{0,1500}+>", re.IGNORECASE)
    _SOURCE = re.compile(r"src\s{0,4}+=\s{0,4}+[\"']?+([^\"'\s>]{1,1000}+)", re.IGNORECASE)
    _HOST = re.compile(r"https?://([a-z0-9.-]{1,253}+)(?::[0-9]{1,5})?(?=[/?#]|$)", re.IGNORECASE)
    _MAX = 1_600

    def __init__(self, own_words: str) -> None:
        self._words = lower(own_words)
        self._held = ""

    def feed(self, piece: str) -> str:
        """Add a piece; return the text that can be released."""
        if not self._held and "!" not in piece and "<" not in piece:
            return piece
        return self._go_through(self._held + piece, whole=False)

    def finish(self) -> str:
        """Return the rest at the end of the text."""
        return self._go_through(self._held, whole=True)

    def _go_through(self, text: str, *, whole: bool) -> str:
        self._held = ""
        parts: list[str] = []
        at = 0
        while begun := self._BEGINNING.search(text, at):
            parts.append(text[at : begun.start()])
            at = begun.start()
            image = (self._INLINE if text[at] == "!" else self._TAG).match(text, at)
            if image:
                parts.append(self._judged(image))
                at = image.end()
            elif not whole and len(text) - at < self._MAX and self._may_go_on(text, at):
                self._held = text[at:]
                return "".join(parts)
            else:  # a reference to an address elsewhere in the text, or nothing: as a link it loads nothing
                parts.append("" if text[at] == "!" else "&lt;")
                at += 1
        end = len(text) if whole else max(at, unfinished(lower(text), self._BEGINNINGS))
        self._held = text[end:]
        return "".join((*parts, text[at:end]))

    @staticmethod
    def _may_go_on(text: str, at: int) -> bool:
        """Return whether further text can still complete an image."""
        if text[at] == "<":
            return ">" not in text[at:]
        end = text.find("]", at)
        return end < 0 or (text[end + 1 : end + 2] in ("", "(") and ")" not in text[end:])

    def _judged(self, image: re.Match[str]) -> str:
        source = image if image.re is self._INLINE else self._SOURCE.search(image.group())
        address = "" if source is None else source[source.re.groups]
        if address.startswith("data:image/") or self._is_named(address):
            return image.group()
        words = image[1] if image.re is self._INLINE else ""
        return f"{words} (image: `{address.replace('`', '')}`)".lstrip()

    def _is_named(self, address: str) -> bool:
        host = self._HOST.match(address)
        name = host[1].lower() if host else ""
        while "." in name:
            if re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w-])", self._words):
                return True
            name = name.partition(".")[2]
        return False


class RedactionFilter:
    """Removes everything that the detectors find. Releases text line by line, or in pieces of some hundred characters.

    Holds back at most 16,000 characters within a key block, 4,000 in an endless word, 700 otherwise.
    """

    _STEP, _REACH, _CONTEXT = 500, 200, 60
    _MAX_WORD, _MAX = 4_000, 16_000

    def __init__(self, kinds: frozenset[str]) -> None:
        self._kinds = kinds
        self._held = ""
        self._before = ""  # the text released last, which may name the value that follows it

    def feed(self, piece: str) -> str:
        """Add a piece; return the text that can be released."""
        self._held += piece
        if "\n" not in piece and len(self._held) < self._STEP:
            return ""
        return self._release(whole=False)

    def finish(self) -> str:
        """Return the rest at the end of the text."""
        return self._release(whole=True)

    def _release(self, *, whole: bool) -> str:
        text, start = self._before + self._held, len(self._before)
        found = list(find_sensitive(text, self._kinds))
        end = len(text) if whole else self._end(text, start, found)
        if end < len(text):  # without the text that follows, it may be something else
            found = [each for each in merge([*found, *find_sensitive(text[:end], self._kinds)]) if each.start < end]
        parts: list[str] = []
        at = start
        for finding in found:
            if finding.end <= start:
                continue
            parts += text[at : max(at, finding.start)], removal_mark(finding.kind)
            at = finding.end
        parts.append(text[at:end])
        self._held = text[max(at, end) :]
        self._before = text[max(0, end - self._CONTEXT) : end] if at <= end else ""
        return "".join(parts)

    def _end(self, text: str, start: int, found: list[SensitiveFinding]) -> int:
        """Return the position up to which further text cannot change the findings."""
        end = text.rfind("\n") + 1
        if end <= start:
            end = max(text.rfind(sign, start, len(text) - self._REACH) for sign in " \t") + 1
        if end <= start:
            end = len(text) if len(text) - start > self._MAX_WORD else start
        block = text.rfind("-----BEGIN", start)
        if block >= 0 and "-----END" not in text[block:] and len(text) - start < self._MAX:
            end = min(end, block)
        for finding in reversed(found):
            if finding.start < end <= finding.end and len(text) - start < self._MAX:
                end = finding.start
        return max(start, end)


def removal_mark(kind: str) -> str:
    """Return the replacement for a removed value."""
    return f"[{kind.replace('_', ' ')} removed]"


class LengthLimit:
    """Cuts a text after `maximum` characters."""

    def __init__(self, maximum: int, suffix: str) -> None:
        self._left = maximum
        self._suffix = suffix

    def feed(self, piece: str) -> str:
        """Add a piece; return the text that can be released."""
        if self._left < 0:
            return ""
        self._left -= len(piece)
        return piece if self._left >= 0 else piece[: self._left] + self._suffix

    def finish(self) -> str:
        """Return the rest at the end of the text."""
        return ""


_BEAT = KeepAlive()


class Sanitizer:
    """Cleans answers as they stream. Text that is to be withheld or removed is never shown.

    With `deny` patterns, no part of an answer is shown before the answer is complete.
    """

    def __init__(self, settings: SanitizerSettings) -> None:
        self._settings = settings
        self._deny = [compile_pattern(pattern) for pattern in settings.deny]
        self._kinds = (SECRETS if settings.secrets else frozenset()) | (PII if settings.pii else frozenset())

    @property
    def active(self) -> bool:
        """Whether the sanitizer does anything. If not, it can be omitted."""
        settings = self._settings
        images = settings.images is not ImageRule.KEEP
        return bool(self._deny or self._kinds or settings.artefacts or images or settings.max_chars)

    async def clean(self, request: ModelRequest, events: AsyncIterator[ModelEvent]) -> AsyncGenerator[ModelEvent]:
        """Clean the events of the answer to this request. Raises ModelError (FILTERED) on a `deny` match.

        Usage is reported even then: the reply arrives without its text, followed by the error.
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
                        yield replace(reply, text="", reasoning="", calls=(), continuation=None, stop=StopReason.FILTER)
                        raise ModelError(
                            ModelFault.FILTERED,
                            translatable("the answer has what sanitizer.deny forbids"),
                            attempts=reply.attempts,
                        )
                    for last in cleaning.reply(reply):
                        yield last
                else:
                    yield event

    def _stages(self, request: ModelRequest) -> tuple[TextStream, ...]:
        settings = self._settings
        stages: list[TextStream] = [ThinkingFilter(), EndMarkFilter()] if settings.artefacts else []
        if settings.images is not ImageRule.KEEP:
            stages.append(ImageFilter(extract_all_user_text(request)))
        if self._kinds:
            stages.append(RedactionFilter(self._kinds))
        if settings.max_chars:
            stages.append(LengthLimit(settings.max_chars, settings.suffix))
        return tuple(stages)

    def _is_denied(self, reply: ModelReply) -> bool:
        texts = (reply.text, reply.reasoning, *(call.arguments for call in reply.calls))
        return any(pattern.search(text) for pattern in self._deny for text in texts)


class _Cleaning:
    """One answer as it passes through the stages."""

    def __init__(self, stages: tuple[TextStream, ...], kinds: frozenset[str]) -> None:
        self._stages = stages
        self._thoughts = next((stage for stage in stages if isinstance(stage, ThinkingFilter)), None)
        self._aside = RedactionFilter(kinds) if kinds else None
        self._kinds = kinds
        self._came = 0
        self._texts: list[str] = []
        self._reasoning: list[str] = []

    def text(self, event: TextDelta) -> list[ModelEvent]:
        """Return the events to show for a piece of text."""
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
        """Return the events to show for a piece of reasoning."""
        if self._aside is None:
            self._reasoning.append(event.text)
            return [event]
        piece = self._aside.feed(event.text)
        self._reasoning.append(piece)
        return [ReasoningDelta(piece)] if piece else []

    def _thought_of(self) -> list[ModelEvent]:
        """Return the events for text that a stage moved to the reasoning."""
        if self._thoughts is None or not self._thoughts.reasoning:
            return []
        taken, self._thoughts.reasoning = self._thoughts.reasoning, ""
        return self.thought(ReasoningDelta(taken))

    def reply(self, reply: ModelReply) -> list[ModelEvent]:
        """Return the final events: the text held back, and the whole answer, which equals what was shown."""
        events: list[ModelEvent] = []
        if self._came != len(reply.text):  # the answer arrived whole, or in other pieces
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
        for finding in reversed(find_sensitive(whole, self._kinds)):
            if finding.end > len(before):
                start = max(finding.start, len(before))
                whole = whole[:start] + removal_mark(finding.kind) + whole[finding.end :]
        return whole[len(before) :]
