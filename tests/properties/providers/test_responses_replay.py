"""Whatever a server made of its answer's order: what goes back says the same, in an order that the server takes."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from hob.providers.wires.openai_responses.encoding import restore_items
from hob.providers.wires.openai_responses.wire import ResponsesDecoder
from tests.providers.hearing import last, sse

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)
ITEMS = st.lists(
    st.one_of(
        st.builds(lambda sealed: {"type": "reasoning", "summary": [], "encrypted_content": sealed}, TEXTS),
        st.builds(lambda text: {"type": "message", "content": [{"type": "output_text", "text": text}]}, TEXTS),
        st.builds(lambda name: {"type": "function_call", "name": name, "arguments": "{}"}, st.sampled_from("ab")),
    ),
    max_size=8,
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["said", "call", "type", "id", "phase", "encrypted_content"]), inner, max_size=4
        )
    ),
    max_leaves=20,
)
PARTS = st.lists(
    st.one_of(
        st.builds(lambda n: {"said": n}, st.integers(min_value=-1, max_value=20)),
        st.just({"call": True}),
        st.just({"type": "reasoning", "encrypted_content": "x"}),
        JSON,
    ),
    max_size=8,
)


def calls(count: int) -> list[dict[str, Any]]:
    return [{"type": "function_call", "call_id": f"c{n}"} for n in range(count)]


def told(items: list[dict[str, Any]]) -> str:
    """The text of all messages."""
    contents = (item["content"] for item in items if item["type"] == "message")
    return "".join(found if isinstance(found, str) else found[0]["text"] for found in contents)


@given(items=ITEMS)
def test_answer_goes_back_as_it_came(items: list[dict[str, Any]]) -> None:
    called = any(item["type"] == "function_call" for item in items)
    if not called:
        return
    done = [{"type": "response.output_item.done", "output_index": n, "item": item} for n, item in enumerate(items)]
    reply = last(_heard(done))
    if reply.continuation is None:
        assert all(item["type"] != "reasoning" for item in items)
        return
    back = restore_items(reply.continuation.data, reply.text, calls(len(reply.calls)))
    while items[-1]["type"] == "reasoning":
        items = items[:-1]
    assert [item["type"] for item in back] == [item["type"] for item in items]
    assert told(back) == told([{**item, "content": item["content"]} for item in items if item["type"] == "message"])


def _heard(events: list[dict[str, Any]]) -> Any:
    decoder = ResponsesDecoder()
    end = {"type": "response.completed", "response": {}}
    return [*decoder.feed(sse(*events, end)), *decoder.finish()]


@given(parts=PARTS | JSON, text=st.text(max_size=12), count=st.integers(min_value=0, max_value=3))
def test_nothing_is_lost_and_nothing_stands_where_it_may_not(parts: Any, text: str, count: int) -> None:
    items = restore_items(json.dumps(parts), text, calls(count))
    assert [item["call_id"] for item in items if item["type"] == "function_call"] == [f"c{n}" for n in range(count)]
    assert told(items).replace("\n", "") == text.replace("\n", "")
    assert not items or items[-1]["type"] != "reasoning"
