"""The prompt guard: keeps sensitive data out of requests to models on other people's machines.

The whole request is scanned: system text, every message, the arguments of earlier calls. Results are cached by hash, so
a turn costs only the scan of new text. Redacted values are replaced by placeholders in the request and restored in the
answer: the model works with the placeholder, the owner sees the value.

A password that is recognised by the word before it would be missed elsewhere, for example in an answer that repeats it
after restoration. Such values are remembered while Hob runs and redacted wherever they occur.
"""

import hashlib
import re
from collections import OrderedDict
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Iterator, Mapping
from dataclasses import replace
from hashlib import blake2b

from hob.core.models import (
    AssistantMessage,
    ModelEvent,
    ModelReply,
    ModelRequest,
    Remark,
    UserMessage,
)
from hob.core.screening.detectors import find_sensitive, merge
from hob.core.screening.kinds import PII, SECRETS, SensitiveFinding, SensitiveKind, describe_kinds
from hob.core.screening.patterns import compile_pattern, compile_words
from hob.core.tools import ToolCall
from hob.core.translation.sentences import Sentence
from hob.guard.screening.model_calls.screened import DENIED, Screened, refusal
from hob.guard.screening.model_calls.settings import PromptGuardSettings, ScreeningAction
from hob.guard.screening.model_texts import change_answer, change_message, change_texts

# Reversible redaction: `[EMAIL-kdmfbaopce]` stands for an address. The letters are a keyed hash of the value, so a
# value has the same placeholder in every request (which keeps the provider's prompt cache valid), and nobody without
# the key can forge one. Text that looks like a placeholder is itself redacted and restored like any value, so text
# never turns into another value. The hash uses letters instead of digits, so that no detector mistakes a placeholder
# for sensitive data.

SHAPE = re.compile(r"\[[A-Z_]{2,16}-[a-p]{10}\]")
_UNFINISHED = re.compile(r"\[(?:[A-Z_]{0,16}|[A-Z_]{2,16}-[a-p]{0,10})$")
_LONGEST = 29
_TEXT = "TEXT"
_LETTERS = str.maketrans("0123456789abcdef", "abcdefghijklmnop")
_NAMES = frozenset(kind.value for kind in SensitiveKind)
_NONE: Mapping[str, str] = {}


class Placeholders:
    """Redacts values. `restore` maps each placeholder used so far to its value."""

    def __init__(self, key: bytes) -> None:
        self._key = key
        self._known: dict[str, str] = {}
        self.restore: dict[str, str] = {}

    def redact(self, text: str, findings: Iterable[SensitiveFinding], others: Mapping[str, str] = _NONE) -> str:
        """Replace the findings, the `others` (values found elsewhere, with their kinds) and anything that looks like a
        placeholder.
        """
        found = [*findings, *_quoted(text), *_mentioned(text, others)]
        if not found:
            return text
        parts: list[str] = []
        at = 0
        for finding in merge(found):
            parts += text[at : finding.start], self.of(text[finding.start : finding.end], finding.kind)
            at = finding.end
        return "".join((*parts, text[at:]))

    def of(self, value: str, kind: str) -> str:
        """Return the placeholder of this value, named after the kind as which it was first found."""
        placeholder = self._known.get(value)
        if placeholder is None:
            label = kind.upper() if kind in _NAMES or kind == _TEXT else "CUSTOM"
            hashed = hashlib.blake2b(value.encode("utf-8", "surrogatepass"), digest_size=5, key=self._key)
            placeholder = f"[{label}-{hashed.hexdigest().translate(_LETTERS)}]"
            self._known[value] = placeholder
            self.restore[placeholder] = value
        return placeholder


def _quoted(text: str) -> list[SensitiveFinding]:
    if "[" not in text:
        return []
    return [SensitiveFinding(_TEXT, match.start(), match.end()) for match in SHAPE.finditer(text)]


def _mentioned(text: str, values: Mapping[str, str]) -> list[SensitiveFinding]:
    found: list[SensitiveFinding] = []
    for value, kind in values.items():
        at = text.find(value)
        while at >= 0:
            found.append(SensitiveFinding(kind, at, at + len(value)))
            at = text.find(value, at + len(value))
    return found


def restore_values(text: str, restore: Mapping[str, str]) -> str:
    """Replace placeholders by their values; unknown placeholders are kept."""
    if "[" not in text:
        return text
    return SHAPE.sub(lambda match: restore.get(match.group(), match.group()), text)


class Restorer:
    """Restores values in a text that arrives in arbitrary pieces. Holds back at most 28 characters."""

    def __init__(self, restore: Mapping[str, str]) -> None:
        self._restore = restore
        self._held = ""

    def feed(self, piece: str) -> str:
        """Add a piece; return the text that can be released."""
        if not self._held and "[" not in piece:
            return piece
        text = self._held + piece
        at = text.rfind("[", max(0, len(text) - _LONGEST))
        if at < 0 or _UNFINISHED.match(text, at) is None:
            at = len(text)
        self._held = text[at:]
        return restore_values(text[:at], self._restore)

    def finish(self) -> str:
        """Return the text held back, which was not a placeholder."""
        held, self._held = self._held, ""
        return held


_MAX_SCANS = 4_096  # texts whose findings are cached; a session has some hundreds
_MAX_KNOWN = 256
_ORDER = tuple(ScreeningAction)
_BY_CONTEXT = frozenset({SensitiveKind.PASSWORD, SensitiveKind.SECRET, SensitiveKind.BEARER})
_APART = re.compile(r"[\s()./\u2013-]")
_NOTE = (
    "Some values are kept from you: a mark such as [EMAIL-…] or [PASSWORD-…], ten letters after the dash, stands for "
    "one. Write the mark as it is wherever the value is meant, in calls too; it is replaced later."
)


class PromptGuard:
    """Screens requests. `key` is a secret of the home, from which placeholders are derived."""

    def __init__(self, settings: PromptGuardSettings, key: bytes) -> None:
        if not key:
            raise ValueError("placeholders need a key")
        self._key = key[:64]
        self._patterns = [(name, compile_pattern(pattern)) for name, pattern in settings.patterns.items()]
        self._denied = compile_words(settings.deny_words)
        self._allowed = frozenset(map(_plain, settings.allow))
        self._actions: dict[str, ScreeningAction] = {
            **dict.fromkeys(SECRETS, settings.secrets),
            **dict.fromkeys(PII, settings.pii),
            **dict.fromkeys(settings.patterns, settings.custom),
            **dict.fromkeys(settings.ignore, ScreeningAction.OFF),
            DENIED: ScreeningAction.BLOCK,
        }
        self._kinds = frozenset(kind for kind in SensitiveKind if self._actions[kind] is not ScreeningAction.OFF)
        self._redacts = ScreeningAction.REDACT in self._actions.values()
        self._scans: OrderedDict[bytes, tuple[SensitiveFinding, ...]] = OrderedDict()
        self._known: OrderedDict[str, str] = OrderedDict()

    @property
    def active(self) -> bool:
        """Whether the guard looks for anything. If not, it can be omitted."""
        return any(
            action is not ScreeningAction.OFF
            for kind, action in self._actions.items()
            if kind != DENIED or self._denied
        )

    def screen(self, request: ModelRequest) -> Screened:
        """Return the request as it may be sent to a model that is not local.

        Raises ModelError (FILTERED), which names what was found and where, but not the value.
        """
        found: dict[str, str] = {}
        fresh: set[str] = set()
        for place, new, text, findings in self._look(request):
            for finding in findings:
                found.setdefault(finding.kind, place)
                if new:
                    fresh.add(finding.kind)
                self._remember(text[finding.start : finding.end], finding.kind)
        kinds = tuple(sorted(found))
        action = max((self._actions[kind] for kind in kinds), key=_ORDER.index, default=ScreeningAction.OFF)
        if action is ScreeningAction.BLOCK:
            blocked = tuple(kind for kind in kinds if self._actions[kind] is ScreeningAction.BLOCK)
            raise refusal(blocked, found[blocked[0]])
        if action is ScreeningAction.LOCAL:
            return Screened(request, action, kinds)
        warned = tuple(sorted(kind for kind in fresh if self._actions[kind] is ScreeningAction.WARN))
        remarks = (Remark(Sentence.PROMPT_GUARD_WARNED, (("kinds", describe_kinds(warned)),)),) if warned else ()
        placeholders = Placeholders(self._key)
        if self._redacts:
            request = self._redact(request, placeholders)
        return Screened(request, action, kinds, placeholders.restore, remarks)

    # detection

    def _look(self, request: ModelRequest) -> Iterator[tuple[str, bool, str, tuple[SensitiveFinding, ...]]]:
        """Yield every text with findings: its place, whether it is new in this request, and the findings."""
        for place, new, text in _texts(request):
            findings = self._scan(text)
            if findings:
                yield place, new, text, findings
        for message in request.messages:
            if type(message) is AssistantMessage:
                for call in message.calls:
                    for text, findings in self._scan_arguments(call):
                        yield "the arguments of a call", False, text, findings

    def _scan(self, text: str) -> tuple[SensitiveFinding, ...]:
        """Return the findings in the text that require an action."""
        if not text:
            return ()
        name = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        findings = self._scans.get(name)
        if findings is None:
            findings = self._find(text)
            self._scans[name] = findings
            if len(self._scans) > _MAX_SCANS:
                self._scans.popitem(last=False)
        else:
            self._scans.move_to_end(name)
        return findings

    def _find(self, text: str) -> tuple[SensitiveFinding, ...]:
        found = list(find_sensitive(text, self._kinds))
        for name, pattern in self._patterns:
            if self._actions[name] is not ScreeningAction.OFF:
                found += (SensitiveFinding(name, *match.span()) for match in pattern.finditer(text) if match.group())
        if self._allowed:
            found = [each for each in found if _plain(text[each.start : each.end]) not in self._allowed]
        if self._denied is not None:
            found += (SensitiveFinding(DENIED, *match.span()) for match in self._denied.finditer(text))
        return tuple(found)

    def _scan_arguments(self, call: ToolCall) -> list[tuple[str, tuple[SensitiveFinding, ...]]]:
        found: list[tuple[str, tuple[SensitiveFinding, ...]]] = []

        def look(name: str, text: str) -> str:
            findings = self._scan_named(name, text)
            if findings:
                found.append((text, findings))
            return text

        change_texts(call.arguments, look)
        return found

    def _scan_named(self, name: str, text: str) -> tuple[SensitiveFinding, ...]:
        """Like `_scan`, but with the name before the text, because it may identify a password."""
        before = len(name) + 2
        findings = self._scan(f"{name}: {text}" if name else text)
        if not name:
            return findings
        moved = (SensitiveFinding(each.kind, max(0, each.start - before), each.end - before) for each in findings)
        return tuple(each for each in moved if each.end > each.start)

    def _remember(self, value: str, kind: str) -> None:
        if kind in _BY_CONTEXT and self._actions[kind] is ScreeningAction.REDACT and _is_telling(value):
            self._known.setdefault(value, kind)
            self._known.move_to_end(value)
            if len(self._known) > _MAX_KNOWN:
                self._known.popitem(last=False)

    # redaction

    def _redact(self, request: ModelRequest, placeholders: Placeholders) -> ModelRequest:
        def redact(text: str) -> str:
            return self._take_out(text, placeholders)

        system = redact(request.system)
        messages = tuple(
            change_message(message, redact, lambda call: self._redact_call(call, placeholders))
            for message in request.messages
        )
        if not placeholders.restore:
            return request
        return replace(request, system=f"{system}\n\n{_NOTE}" if system else _NOTE, messages=messages)

    def _redact_call(self, call: ToolCall, placeholders: Placeholders) -> ToolCall:
        def redact(name: str, text: str) -> str:
            return self._take_out(text, placeholders, self._scan_named(name, text))

        arguments = change_texts(call.arguments, redact)
        return call if arguments is call.arguments else replace(call, arguments=arguments)

    def _take_out(
        self, text: str, placeholders: Placeholders, findings: tuple[SensitiveFinding, ...] | None = None
    ) -> str:
        found = self._scan(text) if findings is None else findings
        wanted = merge([each for each in found if self._actions[each.kind] is ScreeningAction.REDACT])
        return placeholders.redact(text, wanted, self._known)


def restore_events(events: AsyncIterator[ModelEvent], restore: Mapping[str, str]) -> AsyncGenerator[ModelEvent]:
    """Restore values in text, reasoning and calls of the events. Can be omitted if `restore` is empty."""
    return change_answer(events, lambda: Restorer(restore), lambda reply: restore_reply(reply, restore))


def restore_reply(reply: ModelReply, restore: Mapping[str, str]) -> ModelReply:
    """Restore values in the whole answer. The provider's sealed continuation stays unchanged."""
    calls = tuple(
        replace(call, arguments=change_texts(call.arguments, lambda _, text: restore_values(text, restore)))
        for call in reply.calls
    )
    return replace(
        reply, text=restore_values(reply.text, restore), reasoning=restore_values(reply.reasoning, restore), calls=calls
    )


def _texts(request: ModelRequest) -> Iterator[tuple[str, bool, str]]:
    last = max((n for n, message in enumerate(request.messages) if type(message) is AssistantMessage), default=-1)
    yield "the identity files", last < 0, request.system
    for place, message in enumerate(request.messages):
        if type(message) is UserMessage:
            yield ("your message" if place > last else "an earlier message"), place > last, message.text
        elif type(message) is AssistantMessage:
            yield "an earlier answer", False, message.text
        else:
            yield "a tool's result", place > last, message.text


def _plain(value: str) -> str:
    return _APART.sub("", value).casefold()


def _is_telling(value: str) -> bool:
    """Return whether the value is unlike any word, so that redacting it everywhere affects nothing else."""
    strange = any(not sign.isalpha() for sign in value) and any(sign.isalpha() for sign in value)
    return len(value) >= 8 and strange and not any(sign.isspace() for sign in value)
