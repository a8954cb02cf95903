"""Rules that choose a model: a cheaper one for easy questions, another one for certain words.

Rules look only at the newest message, and only if it begins a turn: switching models within a turn would lose the
provider's prompt cache. The first matching rule wins.
"""

import re

from hob.core.content.user_text import extract_user_text, strip_context
from hob.core.models import ModelRequest, Thinking, UserMessage
from hob.core.screening.patterns import compile_pattern, compile_words
from hob.core.values import dataclass
from hob.providers.routing.classifier_settings import ClassifierRule, ClassifierSettings


@dataclass(frozen=True, slots=True)
class ClassifierChoice:
    """The choice of a rule. `thinking` is None if the rule leaves it open."""

    rule: str
    model: str
    thinking: Thinking | None


@dataclass(frozen=True, slots=True)
class RuleResult:
    """Result of one rule; `reason` says why it does not match, and is empty if it does."""

    rule: str
    model: str
    reason: str

    @property
    def holds(self) -> bool:
        """Whether the rule matches."""
        return not self.reason


class Classifier:
    """The rules. Deterministic: the same request gets the same result."""

    def __init__(self, settings: ClassifierSettings) -> None:
        self._rules = [_Rule(rule, place) for place, rule in enumerate(settings.rules, 1)] if settings.enabled else []

    @property
    def active(self) -> bool:
        """Whether there are any rules."""
        return bool(self._rules)

    def classify(self, request: ModelRequest) -> ClassifierChoice | None:
        """Return the choice of the first matching rule; None if none matches or the request does not begin a turn."""
        seen = _look_at(request)
        if seen is None:
            return None
        return next((rule.chosen for rule in self._rules if not rule.objection(request, seen)), None)

    def explain(self, request: ModelRequest) -> tuple[RuleResult, ...]:
        """Return the result of each rule in order; empty if the request does not begin a turn."""
        seen = _look_at(request)
        if seen is None:
            return ()
        return tuple(
            RuleResult(rule.chosen.rule, rule.chosen.model, rule.objection(request, seen)) for rule in self._rules
        )


@dataclass(frozen=True, slots=True)
class _Seen:
    words: str
    size: int
    images: bool


def _look_at(request: ModelRequest) -> _Seen | None:
    newest = request.messages[-1] if request.messages else None
    if not isinstance(newest, UserMessage):
        return None
    return _Seen(extract_user_text(newest.text), len(strip_context(newest.text)), bool(newest.images))


class _Rule:
    def __init__(self, rule: ClassifierRule, place: int) -> None:
        self._rule = rule
        self._any = compile_words(rule.any)
        self._all = [(word, compiled) for word in rule.all if (compiled := compile_words([word]))]
        self._pattern: re.Pattern[str] | None = compile_pattern(rule.pattern) if rule.pattern else None
        thinking = Thinking(rule.thinking) if rule.thinking else None
        self.chosen = ClassifierChoice(rule.name or f"rule {place}", rule.model, thinking)

    def objection(self, request: ModelRequest, seen: _Seen) -> str:
        """Return the first unmet condition, in words; empty if all are met."""
        rule = self._rule
        if rule.task and rule.task != request.task:
            return f"the task is {request.task}"
        if rule.session and not _fits(request.cache_key or "", rule.session):
            return "the session is another"
        if seen.images and not rule.images:
            return "there is an image in the message"
        if rule.max_chars and seen.size > rule.max_chars:
            return f"the message has {seen.size} characters"
        if seen.size < rule.min_chars:
            return f"the message has only {seen.size} characters"
        return self._missing(seen.words)

    def _missing(self, words: str) -> str:
        if self._any is not None and self._any.search(words) is None:
            return "none of its words is in the message"
        missing = next((word for word, compiled in self._all if compiled.search(words) is None), "")
        if missing:
            return f"“{missing}” is not in the message"
        if self._pattern is not None and self._pattern.search(words) is None:
            return "its pattern is not found in the message"
        return ""


def _fits(session: str, wanted: str) -> bool:
    return session.startswith(wanted[:-1]) if wanted.endswith("*") else session == wanted
