"""Choosing a model by rule."""

import pytest

from hob.core.content.user_text import extract_user_text
from hob.core.ids import BlobId, CallId, SessionKey
from hob.core.models import AssistantMessage, Image, ModelRequest, Thinking, ToolMessage, UserMessage
from hob.providers.routing.classifier import Classifier, ClassifierChoice
from hob.providers.routing.classifier_settings import ClassifierRule, ClassifierSettings

MARKED = "<untrusted-0123456789 from=web>\nplease translate this\n</untrusted-0123456789>"
CONTEXT = "<context>\nNow: Monday, translate\n</context>"


def classifier(*rules: ClassifierRule, enabled: bool = True) -> Classifier:
    return Classifier(ClassifierSettings(enabled, list(rules)))


def asked(text: str, **changes: object) -> ModelRequest:
    return ModelRequest("m", "", (UserMessage(text),), **changes)  # type: ignore[arg-type]


TRANSLATION = ClassifierRule("translations", "ollama/small", any=["translate", "übersetze"])


def test_first_matching_rule_wins() -> None:
    other = ClassifierRule("short", "openai/mini", thinking="low", max_chars=30)
    rules = classifier(TRANSLATION, other)
    assert rules.classify(asked("Please TRANSLATE this")) == ClassifierChoice("translations", "ollama/small", None)
    assert rules.classify(asked("hi")) == ClassifierChoice("short", "openai/mini", Thinking.LOW)
    assert rules.classify(asked("a long question about something else")) is None


def test_rules_are_asked_only_where_they_are_switched_on() -> None:
    off = classifier(TRANSLATION, enabled=False)
    assert not off.active
    assert off.classify(asked("translate")) is None
    assert not classifier().active


@pytest.mark.parametrize("text", ["translated", "untranslate", "hi", f"{MARKED}", f"hi\n\n{CONTEXT}", f"a {MARKED} b"])
def test_whole_words_of_the_persons_own_alone_count(text: str) -> None:
    assert classifier(TRANSLATION).classify(asked(text)) is None


def test_turn_goes_on_with_the_model_it_began_with() -> None:
    request = ModelRequest(
        "m", "", (UserMessage("translate"), AssistantMessage("", ()), ToolMessage(CallId("c"), "translate"))
    )
    assert classifier(TRANSLATION).classify(request) is None
    assert classifier(TRANSLATION).explain(request) == ()
    assert classifier(TRANSLATION).classify(ModelRequest("m", "", ())) is None


@pytest.mark.parametrize(
    ("rule", "request_", "reason"),
    [
        (ClassifierRule(model="m", all=["a", "b"]), asked("a c"), "“b” is not in the message"),
        (ClassifierRule(model="m", any=["x"]), asked("a"), "none of its words is in the message"),
        (ClassifierRule(model="m", pattern=r"\d{4}"), asked("123"), "its pattern is not found in the message"),
        (ClassifierRule(model="m", max_chars=3), asked("four"), "the message has 4 characters"),
        (ClassifierRule(model="m", min_chars=9), asked("four"), "the message has only 4 characters"),
        (ClassifierRule(model="m", task="compaction"), asked("x"), "the task is chat"),
        (
            ClassifierRule(model="m", session="work:*"),
            asked("x", cache_key=SessionKey("home")),
            "the session is another",
        ),
    ],
)
def test_failing_rule_gives_its_reason(rule: ClassifierRule, request_: ModelRequest, reason: str) -> None:
    (verdict,) = classifier(rule).explain(request_)
    assert not verdict.holds
    assert (verdict.rule, verdict.reason) == ("rule 1", reason)


def test_matching_rule_is_explained_as_well() -> None:
    rule = ClassifierRule("r", "m", all=["a", "b c"], pattern="x{2}", session="work:*", task="chat", min_chars=2)
    request = asked("A xx B  C", cache_key=SessionKey("work:1"))
    assert [verdict.holds for verdict in classifier(rule).explain(request)] == [True]
    assert classifier(rule).classify(request) == ClassifierChoice("r", "m", None)


def test_message_with_an_image_goes_to_a_rule_that_says_so() -> None:
    request = ModelRequest("m", "", (UserMessage("what is it", (Image(BlobId("b"), "image/png"),)),))
    assert classifier(ClassifierRule(model="blind", max_chars=99)).classify(request) is None
    assert classifier(ClassifierRule(model="sees", max_chars=99, images=True)).classify(request) is not None


def test_rule_needs_a_model_and_a_fast_pattern() -> None:
    with pytest.raises(ValueError, match="a rule needs a model"):
        ClassifierRule(any=["x"])
    with pytest.raises(ValueError, match="pattern"):
        ClassifierRule(model="m", pattern="(a+)+b")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("hello", "hello"),
        (f"hello\n\n{CONTEXT}", "hello"),
        (f"hello {MARKED} there\n\n{CONTEXT}", "hello  there"),
        (CONTEXT, ""),
        ("<untrusted-0123456789 from=web>\nnever closed translate", ""),
        ("I say </context>", "I say </context>"),
        ("what does <context> mean? </context>", "what does <context> mean? </context>"),
    ],
)
def test_own_words_are_what_a_person_wrote(text: str, words: str) -> None:
    assert extract_user_text(text) == words
