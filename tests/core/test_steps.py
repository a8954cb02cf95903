"""Steps and their stored form."""

import json
from dataclasses import fields
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hob.core.ids import ApprovalId, BlobId, CallId, InboundId
from hob.core.messages import OutboundKind, Quoted
from hob.core.models import Continuation, Image, StopReason, Usage
from hob.core.steps import (
    _FIELDS,
    VERSION,
    ApprovalAnswered,
    ApprovalAsked,
    Cancelled,
    ModelAsked,
    ModelFailed,
    ModelReplied,
    Noted,
    Said,
    Shortened,
    Steered,
    Step,
    Stopped,
    ToolIntended,
    ToolReceived,
    Transcribed,
    UserAnswered,
    UserAsked,
    Waited,
    command_hash,
    dump_step,
    load_step,
    step_kind,
)
from hob.core.tools import Restart, ToolCall, ToolResult
from hob.core.translation.language import Translatable, translatable, translated
from hob.core.trust.labels import Label, Origin, Trust

text = st.text(max_size=20)
labels = st.builds(Label, st.sampled_from(Origin), st.sampled_from(Trust))
calls = st.builds(ToolCall, text.map(CallId), text, text)
usages = st.builds(Usage, st.integers(0), st.integers(0))
lines = st.lists(text, max_size=2).map(tuple)
costs = st.none() | st.integers(0)
images = st.lists(st.builds(Image, text.map(BlobId), text), max_size=2).map(tuple)
results = st.builds(
    ToolResult,
    text.map(CallId),
    text,
    labels,
    st.booleans(),
    st.none() | st.just(BlobId("sha256-1")),
    st.just(()),
    images,
)
quotes = st.lists(st.builds(Quoted, text, labels), max_size=2).map(tuple)
STEPS: st.SearchStrategy[Step] = st.one_of(
    st.builds(ModelAsked, text, text, st.integers(0), costs, st.sampled_from(Trust)),
    st.builds(
        ModelReplied,
        text,
        st.lists(calls, max_size=3).map(tuple),
        st.sampled_from(StopReason),
        st.none() | usages,
        text,
        costs,
        text,
        st.integers(1),
        text,
        st.none() | st.builds(Continuation, text, text),
        lines,
    ),
    st.builds(
        ModelFailed, text, text, st.integers(1), st.none() | st.just(1.5), st.none(), st.none() | usages, costs, lines
    ),
    st.builds(Waited, st.just(12.5), text),
    st.builds(ToolIntended, calls, st.sampled_from(Restart), text),
    st.builds(ToolReceived, results, st.just(0.25), text),
    st.builds(ApprovalAsked, text.map(ApprovalId), text.map(CallId), text),
    st.builds(ApprovalAnswered, text.map(ApprovalId), text.map(CallId), st.booleans(), text),
    st.builds(UserAsked, text.map(CallId), text),
    st.builds(UserAnswered, text.map(CallId), text.map(InboundId), text, labels),
    st.builds(Steered, text.map(InboundId), text, labels, quotes),
    st.builds(Noted, text, text),
    st.builds(Shortened, st.integers(0)),
    st.builds(Cancelled, text),
    st.builds(Stopped, text, text),
    st.builds(Transcribed, st.just(InboundId("m_1")), st.just(BlobId("b")), text, labels, text, text),
    st.builds(Said, text, st.sampled_from(OutboundKind), text),
)


@given(STEPS)
def test_stored_step_is_read_back_as_it_was(step: Step) -> None:
    assert load_step(step_kind(step), VERSION, dump_step(step)) == step


@given(STEPS)
def test_step_with_an_unknown_field_is_refused(step: Step) -> None:
    data = json.loads(dump_step(step)) | {"of_tomorrow": 1}
    with pytest.raises(ValueError, match="of_tomorrow"):
        load_step(step_kind(step), VERSION, json.dumps(data))


def test_every_field_of_a_step_has_a_stored_key() -> None:
    for cls, names in _FIELDS.items():
        assert set(names.values()) == {field.name for field in fields(cls)}, cls


def test_detail_of_a_failed_model_call_stays_translatable() -> None:
    detail = translatable("{n} files", n=2)
    read = again(ModelFailed("network", detail))
    assert isinstance(read, ModelFailed)
    assert isinstance(read.detail, Translatable)
    assert (read.detail, translated(read.detail, "de")) == (detail, translated(detail, "de"))


def test_text_of_a_result_is_stored_in_english_whatever_it_was_made_of() -> None:
    result = ToolResult(CallId("c"), translatable("{n} files", n=2), Label(Origin.OWNER, Trust.TRUSTED))
    read = again(ToolReceived(result))
    assert isinstance(read, ToolReceived)
    assert read.result.text == "2 files"


def again(step: Step) -> Step:
    return load_step(step_kind(step), VERSION, dump_step(step))


def test_reason_of_a_question_is_stored_with_its_values() -> None:
    reason = translatable("{reason}, and {why}", reason="it would change settings", why=translatable("{n} files", n=2))
    asked = ApprovalAsked(ApprovalId("a"), CallId("c"), reason)
    read = again(asked)
    assert isinstance(read, ApprovalAsked)
    assert isinstance(read.reason, Translatable)
    assert read == asked
    assert translated(read.reason, "de") == translated(reason, "de") != reason


@given(STEPS)
def test_fields_that_did_not_exist_yet_get_their_defaults(step: Step) -> None:
    required = {field.name for field in fields(step) if _is_required(field)}
    data = {key: value for key, value in json.loads(dump_step(step)).items() if key in required}
    assert type(load_step(step_kind(step), 1, json.dumps(data))) is type(step)


def _is_required(field: Any) -> bool:
    return repr(field.default) == repr(field.default_factory)  # both are MISSING


@pytest.mark.parametrize(("kind", "version"), [("model_asked", VERSION + 1), ("of_tomorrow", 1)])
def test_step_of_a_newer_hob_is_refused_not_guessed(kind: str, version: int) -> None:
    with pytest.raises(ValueError, match="newer Hob"):
        load_step(kind, version, "{}")


def test_intent_is_bound_to_tool_and_exact_arguments() -> None:
    call = ToolCall(CallId("a"), "rm", '{"path":"x"}')
    assert command_hash(call) == command_hash(ToolCall(CallId("b"), "rm", '{"path":"x"}'))
    assert command_hash(call) != command_hash(ToolCall(CallId("a"), "rm", '{"path":"y"}'))
    assert command_hash(call) != command_hash(ToolCall(CallId("a"), "rmdir", '{"path":"x"}'))
