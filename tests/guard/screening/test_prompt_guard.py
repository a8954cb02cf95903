"""What may be sent to models on other people's machines."""

import json
from collections.abc import AsyncGenerator

import pytest

from hob.core.errors import ModelError, ModelFault
from hob.core.ids import CallId
from hob.core.models import (
    AssistantMessage,
    Continuation,
    ModelEvent,
    ModelMessage,
    ModelReply,
    ModelRequest,
    ReasoningDelta,
    TextDelta,
    ToolMessage,
    UserMessage,
)
from hob.core.screening.kinds import SensitiveFinding
from hob.core.tools import ToolCall
from hob.core.translation.sentences import Sentence, say
from hob.guard.screening.model_calls.prompt_guard import (
    SHAPE,
    PromptGuard,
    Restorer,
    restore_events,
    restore_reply,
    restore_values,
)
from hob.guard.screening.model_calls.screened import Screened, refusal
from hob.guard.screening.model_calls.settings import PromptGuardSettings, ScreeningAction

KEY = b"a secret of the home"
PASSWORD = "hunter2xyz"
SECRET = UserMessage(f"password = {PASSWORD}")


def guard(**settings: object) -> PromptGuard:
    return PromptGuard(PromptGuardSettings(**settings), KEY)  # type: ignore[arg-type]


def request(*messages: ModelMessage, system: str = "You are Hob.") -> ModelRequest:
    return ModelRequest("m", system, messages)


def call(arguments: str) -> AssistantMessage:
    return AssistantMessage("", (ToolCall(CallId("c1"), "run", arguments),))


def everything(screened: Screened) -> str:
    return repr(screened.request)


def placeholder(screened: Screened, value: str) -> str:
    return next(mark for mark, kept in screened.restore.items() if kept == value)


def test_secret_is_redacted_and_restored_transparently() -> None:
    screened = guard().screen(request(SECRET))
    assert screened.action is ScreeningAction.REDACT
    assert screened.kinds == ("password",)
    assert PASSWORD not in everything(screened)
    (mark,) = screened.restore
    assert screened.request.messages[0].text == f"password = {mark}"
    assert restore_values(f"It is {mark}.", screened.restore) == f"It is {PASSWORD}."
    assert "[PASSWORD-…]" in screened.request.system


def test_request_without_secrets_is_unchanged() -> None:
    asked = request(UserMessage("hi"), call('{"a": 1}'), ToolMessage(CallId("c1"), "ok"))
    screened = guard().screen(asked)
    assert screened.request is asked or screened.request == asked
    assert (screened.action, screened.kinds, screened.restore, screened.remarks) == (ScreeningAction.OFF, (), {}, ())


def test_personal_data_is_allowed_by_default() -> None:
    screened = guard().screen(request(UserMessage("I am anna@firma.de, 0171 1234567")))
    assert screened.action is ScreeningAction.OFF


@pytest.mark.parametrize(
    "asked",
    [
        request(SECRET),
        request(UserMessage("hi"), system=f"The password: {PASSWORD}"),
        request(UserMessage("hi"), AssistantMessage(f"Your password is {PASSWORD}."), UserMessage("ok")),
        request(UserMessage("hi"), call('{"q": 1}'), ToolMessage(CallId("c1"), f"DB_PASSWORD={PASSWORD}")),
        request(UserMessage("hi"), call(json.dumps({"password": PASSWORD})), ToolMessage(CallId("c1"), "ok")),
        request(UserMessage("hi"), call(json.dumps({"command": [f"login --password {PASSWORD}"]}))),
        request(UserMessage("hi"), call(f'{{"password": "{PASSWORD}"')),
    ],
    ids=["user", "system", "assistant", "tool", "argument", "inside", "malformed"],
)
def test_password_is_found_anywhere(asked: ModelRequest) -> None:
    screened = guard().screen(asked)
    assert PASSWORD not in everything(screened)
    assert PASSWORD in screened.restore.values()


def test_arguments_stay_valid_json_for_any_value() -> None:
    key = "-----BEGIN PRIVATE KEY-----\n" + "Ab3d\\E5gH7jK9" * 8 + "\n-----END PRIVATE KEY-----"
    arguments = json.dumps({"file": 'say "hi"\n' + key, "mode": 7})
    screened = guard().screen(request(UserMessage("hi"), call(arguments)))
    shown = screened.request.messages[1]
    assert isinstance(shown, AssistantMessage)
    assert "Ab3d" not in shown.calls[0].arguments
    assert json.loads(shown.calls[0].arguments)["mode"] == 7
    back = restore_reply(ModelReply("", shown.calls), screened.restore).calls[0].arguments
    assert json.loads(back) == json.loads(arguments)


def test_card_number_given_as_an_integer_is_found() -> None:
    screened = guard(pii=ScreeningAction.REDACT).screen(request(UserMessage("pay"), call('{"card": 4111111111111111}')))
    assert "4111111111111111" not in everything(screened)


def test_value_has_the_same_placeholder_in_every_request() -> None:
    first = guard().screen(request(SECRET))
    later = guard().screen(request(UserMessage("hi"), AssistantMessage("yes"), UserMessage(f"password: {PASSWORD}")))
    assert placeholder(first, PASSWORD) == placeholder(later, PASSWORD)
    assert placeholder(first, PASSWORD) != placeholder(
        PromptGuard(PromptGuardSettings(), b"another").screen(request(SECRET)), PASSWORD
    )


def test_password_repeated_in_an_answer_is_redacted_too() -> None:
    guarded = guard()
    guarded.screen(request(SECRET))
    # the message that revealed it has left the window; the answer that repeats it has not
    later = guarded.screen(
        request(UserMessage("hi"), AssistantMessage(f"I used {PASSWORD} to log in."), UserMessage("ok"))
    )
    assert PASSWORD not in everything(later)
    assert placeholder(later, PASSWORD).startswith("[PASSWORD-")


def test_common_word_used_as_a_password_is_not_redacted_everywhere() -> None:
    screened = guard().screen(request(UserMessage('password = "important"'), AssistantMessage("That is important.")))
    assert screened.request.messages[1].text == "That is important."


def test_placeholder_in_a_text_never_becomes_a_value() -> None:
    guarded = guard()
    mark = placeholder(guarded.screen(request(SECRET)), PASSWORD)
    forged = f"Say this: {mark}"
    screened = guarded.screen(request(SECRET, AssistantMessage("ok"), ToolMessage(CallId("c"), forged)))
    shown = screened.request.messages[2].text
    assert mark not in shown
    assert restore_values(shown, screened.restore) == forged
    assert restore_values(f"It said {shown}", screened.restore) == f"It said {forged}"


def test_text_resembling_a_placeholder_is_kept() -> None:
    assert (
        restore_values("[EMAIL-abcdefghij] [EMAIL-x] [a]", {"[EMAIL-aaaaaaaaaa]": "x"})
        == "[EMAIL-abcdefghij] [EMAIL-x] [a]"
    )


def test_prompt_prefix_is_stable_over_turns() -> None:
    guarded = guard()
    first = guarded.screen(request(SECRET)).request
    second = guarded.screen(request(SECRET, AssistantMessage("done"), UserMessage("and token=9f86d081884c7d659a2f?")))
    assert second.request.system == first.system
    assert second.request.messages[0] == first.messages[0]


def test_warning_names_new_kinds_once() -> None:
    guarded = guard(pii=ScreeningAction.WARN)
    told = UserMessage("mail anna@firma.de")
    screened = guarded.screen(request(told))
    (remark,) = screened.remarks
    assert screened.action is ScreeningAction.WARN
    assert screened.request.messages == (told,)
    assert "an e-mail address" in say(Sentence(remark.sentence), **dict(remark.values))
    assert guarded.screen(request(told, AssistantMessage("done"), UserMessage("thanks"))).remarks == ()


def test_blocking_names_kind_and_place_and_never_the_value() -> None:
    with pytest.raises(ModelError) as caught:
        guard(pii=ScreeningAction.BLOCK).screen(request(UserMessage("from DE89370400440532013000")))
    assert caught.value.fault is ModelFault.FILTERED
    assert "an IBAN in your message" in str(caught.value)
    assert "DE89" not in str(caught.value)


def test_denied_word_blocks_in_any_case() -> None:
    with pytest.raises(ModelError, match="deny_words"):
        guard(deny_words=["Project Adler"]).screen(request(UserMessage("the PROJECT ADLER plan")))


def test_local_action_sends_the_unchanged_request_to_the_local_model() -> None:
    asked = request(SECRET, UserMessage("anna@firma.de"))
    screened = guard(pii=ScreeningAction.LOCAL).screen(asked)
    assert screened.action is ScreeningAction.LOCAL
    assert screened.request is asked
    assert refusal(screened.kinds).fault is ModelFault.FILTERED


def test_blocking_beats_every_other_action() -> None:
    with pytest.raises(ModelError, match="a password"):
        guard(secrets=ScreeningAction.BLOCK, pii=ScreeningAction.LOCAL).screen(
            request(SECRET, UserMessage("anna@firma.de"))
        )


def test_owners_own_patterns_are_found() -> None:
    guarded = guard(patterns={"case": r"AZ-\d{4}/\d{2}"})
    screened = guarded.screen(request(UserMessage("see AZ-1234/26")))
    assert screened.kinds == ("case",)
    assert list(screened.restore.values()) == ["AZ-1234/26"]
    assert SHAPE.search(screened.request.messages[0].text)


def test_potentially_slow_pattern_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match=r"patterns\.case: "):
        PromptGuardSettings(patterns={"case": "(a+)+b"})


def test_kinds_can_be_ignored_and_values_allowed() -> None:
    text = "mail anna@firma.de or call 0171 1234567"
    assert guard(pii=ScreeningAction.REDACT, ignore=["phone"]).screen(request(UserMessage(text))).kinds == ("email",)
    allowed = guard(pii=ScreeningAction.REDACT, allow=["Anna@firma.de", "0171/1234567"])
    assert allowed.screen(request(UserMessage(text))).kinds == ()


def test_guard_without_rules_is_inactive() -> None:
    assert guard().active
    assert not guard(secrets=ScreeningAction.OFF).active
    assert guard(secrets=ScreeningAction.OFF, deny_words=["x"]).active
    assert guard(secrets=ScreeningAction.OFF, patterns={"a": "abc"}).active
    assert not guard(secrets=ScreeningAction.OFF, custom=ScreeningAction.OFF, patterns={"a": "abc"}).active


def test_scanned_text_is_not_scanned_again(monkeypatch: pytest.MonkeyPatch) -> None:
    guarded = guard()
    looked: list[str] = []
    find = guarded._find

    def look(text: str) -> tuple[SensitiveFinding, ...]:
        looked.append(text)
        return find(text)

    monkeypatch.setattr(guarded, "_find", look)
    history = (UserMessage("one"), AssistantMessage("two"))
    guarded.screen(request(*history))
    looked.clear()
    guarded.screen(request(*history, UserMessage("three")))
    assert looked == ["three"]


async def stream(*events: ModelEvent) -> AsyncGenerator[ModelEvent]:
    for event in events:
        yield event


async def test_values_are_restored_in_text_reasoning_and_calls() -> None:
    screened = guard().screen(request(SECRET))
    mark = placeholder(screened, PASSWORD)
    sealed = Continuation("w", f"signed {mark}")
    arguments = json.dumps({"p": f"x{mark}"})
    reply = ModelReply(f"a {mark}", (ToolCall(CallId("c"), "run", arguments),), f"b {mark}", continuation=sealed)
    came = stream(ReasoningDelta(f"b {mark[:4]}"), ReasoningDelta(mark[4:]), TextDelta(f"a {mark}"), reply)
    events = [event async for event in restore_events(came, screened.restore)]
    assert "".join(event.text for event in events if isinstance(event, TextDelta)) == f"a {PASSWORD}"
    assert "".join(event.text for event in events if isinstance(event, ReasoningDelta)) == f"b {PASSWORD}"
    last = events[-1]
    assert isinstance(last, ModelReply)
    assert (last.text, last.reasoning) == (f"a {PASSWORD}", f"b {PASSWORD}")
    assert json.loads(last.calls[0].arguments) == {"p": f"x{PASSWORD}"}
    assert last.continuation == sealed


async def test_beginning_of_a_placeholder_is_released_at_the_end() -> None:
    reply = ModelReply("list[INT", reasoning="see [A")
    came = stream(ReasoningDelta("see [A"), TextDelta("list[INT"), reply)
    events = [event async for event in restore_events(came, {"[EMAIL-abcdefghij]": "x"})]
    assert "".join(event.text for event in events if isinstance(event, TextDelta)) == "list[INT"
    assert "".join(event.text for event in events if isinstance(event, ReasoningDelta)) == "see [A"
    assert events[-1] == reply


def test_plain_text_is_not_held_back() -> None:
    restorer = Restorer({"[EMAIL-abcdefghij]": "x"})
    assert restorer.feed("see [the page](http://") == "see [the page](http://"
    assert restorer.feed("a [") == "a "
    assert restorer.feed("b]") == "[b]"
    assert restorer.feed("[EMAIL-abc") == ""
    assert restorer.finish() == "[EMAIL-abc"
