"""Anthropic Messages: https://platform.claude.com/docs/en/api/messages, .../build-with-claude/streaming."""

import json
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hob.core.content.json_text import parse_json_object
from hob.testing.model_server.hypertext import Event, HttpRequest, dump, make_json_response
from hob.testing.model_server.prompt import Prompt, Turn
from hob.testing.model_server.replies import Fault
from hob.testing.model_server.signatures import is_signed, seal, sign, unseal
from hob.testing.model_server.wire import (
    Cause,
    Wire,
    WireAnswer,
    WireRefusal,
    WireWriter,
    bad_request,
    order_rows,
    refuse_if,
    split_arguments,
    split_text,
    split_words,
)

# Reasons for which Anthropic refuses a request, and the parts of a prompt compared by its cache.
#
# https://platform.claude.com/docs/en/api/errors, .../agents-and-tools/tool-use/implement-tool-use,
# .../build-with-claude/extended-thinking, .../build-with-claude/prompt-caching

_FIELDS = split_words(
    """
    cache_control compaction container context_management diagnostics fallbacks inference_geo max_tokens mcp_servers
    messages metadata model output_config output_format service_tier speed stop_sequences stream system temperature
    thinking tool_choice tools top_k top_p user_profile_id
    """
)
_ID = re.compile(r"[a-zA-Z0-9_-]+")
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")
_IMAGES = ("image/jpeg", "image/png", "image/gif", "image/webp")
_BINDING = re.compile(r"claude-(?:(?:fable|mythos)-5-\d|(?:opus|sonnet|haiku)-5-5)\b")
_MAX_MARKS = 4


def get_blocks(content: Any) -> Sequence[Mapping[str, Any]]:
    """Return a content as blocks; a string is one block of text."""
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def get_text(content: Any) -> str:
    """Return the text of a content."""
    return "\n".join(block["text"] for block in get_blocks(content) if block["type"] == "text")


def segments(request: Mapping[str, Any]) -> tuple[list[object], list[int]]:
    """Return the blocks in the order of the cache (tools, system, messages) and the indexes of marked ones."""
    found: list[object] = []
    marks: list[int] = []

    def add(block: Mapping[str, Any], **where: object) -> None:
        if block.get("cache_control"):
            marks.append(len(found))
        found.append({**where, **{name: value for name, value in block.items() if name != "cache_control"}})

    for tool in request.get("tools") or ():
        add(tool)
    for block in get_blocks(request.get("system") or []):
        add(block)
    for message in request["messages"]:
        for block in get_blocks(message["content"]):
            add(block, role=message["role"])
            if isinstance(block.get("content"), list) and any(part.get("cache_control") for part in block["content"]):
                marks.append(len(found) - 1)
    if request.get("cache_control") and found:
        marks.append(len(found) - 1)
    return found, marks


def check(http_request: HttpRequest, request: Mapping[str, Any]) -> None:
    """Check the request. Raises WireRefused."""
    refuse_if(not http_request.headers.get("anthropic-version"), "anthropic-version: header is required")
    for name in request:
        refuse_if(name not in _FIELDS, f"{name}: Extra inputs are not permitted")
    counting = http_request.path.partition("?")[0].endswith("/count_tokens")
    for name in ("model", "messages") if counting else ("model", "max_tokens", "messages"):
        refuse_if(name not in request, f"{name}: Field required")
    refuse_if(not isinstance(request["model"], str) or not request["model"], "model: Input should be a valid string")
    maximum = request.get("max_tokens", 1)
    refuse_if(not isinstance(maximum, int) or maximum < 1, "max_tokens: Input should be greater than or equal to 1")
    _check_tools(request.get("tools") or ())
    _check_messages(request["messages"])
    _check_thinking(request)
    if binds_thinking(request["model"]):
        _check_bindings(request)
    marks = segments(request)[1]
    refuse_if(len(marks) > _MAX_MARKS, f"A maximum of 4 blocks with cache_control may be provided. Found {len(marks)}.")


def _check_tools(tools: Sequence[Mapping[str, Any]]) -> None:
    names = []
    for number, tool in enumerate(tools):
        where = f"tools.{number}.custom"
        if tool.get("type", "custom") != "custom":
            continue
        refuse_if(
            not _NAME.fullmatch(tool["name"]), f"{where}.name: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'"
        )
        refuse_if("input_schema" not in tool, f"{where}.input_schema: Field required")
        schema = tool["input_schema"]
        refuse_if(schema.get("type") != "object", f"{where}.input_schema.type: Input should be 'object'")
        refuse_if(
            {"oneOf", "allOf", "anyOf"} & schema.keys(),
            f"{where}.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level",
        )
        for name in schema.get("properties", ()):
            refuse_if(
                not re.fullmatch(r"[a-zA-Z0-9_.-]{1,64}", name),
                f"{where}.input_schema.properties: Property keys should match '^[a-zA-Z0-9_.-]{{1,64}}$'",
            )
        names.append(tool["name"])
    refuse_if(len(set(names)) < len(names), "tools: Tool names must be unique.")


def _check_messages(messages: Sequence[Mapping[str, Any]]) -> None:
    """Check the messages. Like the real server, treat consecutive messages of one role as one."""
    refuse_if(not isinstance(messages, list) or not messages, "messages: at least one message is required")
    for number, message in enumerate(messages):
        if message["role"] not in ("user", "assistant"):
            raise bad_request(
                f'messages.{number}: Unexpected role "{message["role"]}". Roles are "user" and "assistant".'
            )
        if message.keys() - {"role", "content"}:
            extra = min(message.keys() - {"role", "content"})
            raise bad_request(f"messages.{number}.{extra}: Extra inputs are not permitted")
        last = number == len(messages) - 1 and message["role"] == "assistant"
        refuse_if(not message["content"] and not last, f"messages.{number}: all messages must have non-empty content")
        for place, block in enumerate(get_blocks(message["content"])):
            _check_block(block, message["role"], f"messages.{number}.content.{place}")
    refuse_if(messages[0]["role"] != "user", 'messages: first message must use the "user" role')
    _check_results(messages)


_BLOCKS: Mapping[str, tuple[str, frozenset[str], frozenset[str]]] = {
    # type -> its role, required fields, optional fields besides `cache_control`
    "text": ("", frozenset({"text"}), frozenset({"citations"})),
    "image": ("user", frozenset({"source"}), frozenset({"transformations"})),
    "document": ("user", frozenset({"source"}), frozenset({"title", "context", "citations"})),
    "tool_use": ("assistant", frozenset({"id", "name", "input"}), frozenset({"caller", "toolset_name"})),
    "tool_result": ("user", frozenset({"tool_use_id"}), frozenset({"content", "is_error", "toolset_name"})),
    "thinking": ("assistant", frozenset({"thinking", "signature"}), frozenset()),
    "redacted_thinking": ("assistant", frozenset({"data"}), frozenset()),
}


def _check_block(block: Mapping[str, Any], role: str, where: str) -> None:
    kind = block["type"]
    refuse_if(
        kind not in _BLOCKS or _BLOCKS[kind][0] not in ("", role),
        f"{where}: Input tag '{kind}' found using 'type' does not match any of the expected tags",
    )
    _, needed, allowed = _BLOCKS[kind]
    keys = block.keys() - {"type", "cache_control"}
    if needed - keys:
        raise bad_request(f"{where}.{kind}.{min(needed - keys)}: Field required")
    if keys - needed - allowed:
        raise bad_request(f"{where}.{kind}.{min(keys - needed - allowed)}: Extra inputs are not permitted")
    refuse_if(
        "cache_control" in block and kind.endswith("thinking"),
        f"{where}.{kind}.cache_control: Extra inputs are not permitted",
    )
    match kind:
        case "text" if not block["text"]:
            raise bad_request(f"{where}: text content blocks must be non-empty")
        case "tool_use":
            refuse_if(
                not _ID.fullmatch(block["id"]), f"{where}.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'"
            )
            refuse_if(
                not isinstance(block["input"], dict), f"{where}.tool_use.input: Input should be a valid dictionary"
            )
        case "thinking" if not is_signed(block["thinking"], str(block["signature"]).partition(".")[0]):
            raise bad_request(f"{where}: Invalid `signature` in `thinking` block")
        case "redacted_thinking" if unseal(block["data"]) is None:
            raise bad_request(f"{where}: Invalid `data` in `redacted_thinking` block")
        case "image":
            _check_source(block["source"], where)


def binds_thinking(model: str) -> bool:
    """Whether the model refuses its reasoning after a changed prefix.

    https://platform.claude.com/docs/en/build-with-claude/preserved-thinking
    """
    return bool(_BINDING.search(model))


def binding(before: Sequence[object]) -> str:
    """Return the part of a signature that identifies everything before the reasoning."""
    return sign(json.dumps(before, sort_keys=True))


def _check_bindings(request: Mapping[str, Any]) -> None:
    """Check that nothing before the reasoning has changed."""
    for number, message in enumerate(request["messages"]):
        for place, block in enumerate(get_blocks(message["content"])):
            if block["type"] != "thinking":
                continue
            before, _ = segments({**request, "messages": request["messages"][:number]})
            refuse_if(
                block["signature"].partition(".")[2] != binding(before),
                f"messages.{number}.content.{place}: Invalid `signature` in `thinking` block. The block is bound "
                "to a different conversation. Remove the block, or set `thinking.block_binding."
                'prefix_mismatch_behavior` to "drop_block".',
            )


def _check_source(source: Mapping[str, Any], where: str) -> None:
    if source["type"] == "base64" and source["media_type"] not in _IMAGES:
        kinds = ", ".join(f"'{kind}'" for kind in _IMAGES)
        raise bad_request(f"{where}.image.source.base64.media_type: Input should be one of {kinds}")


def merge_roles(messages: Sequence[Mapping[str, Any]]) -> list[tuple[str, list[Mapping[str, Any]]]]:
    """Merge consecutive messages of one role."""
    turns: list[tuple[str, list[Mapping[str, Any]]]] = []
    for message in messages:
        if not turns or turns[-1][0] != message["role"]:
            turns.append((message["role"], []))
        turns[-1][1].extend(get_blocks(message["content"]))
    return turns


def _check_results(messages: Sequence[Mapping[str, Any]]) -> None:
    """Check that each call has a result at the beginning of the next turn, and that each result has a call."""
    asked: list[str] = []
    seen: set[str] = set()
    for number, (_, blocks) in enumerate(merge_roles(messages)):
        results: list[str] = []
        for block in blocks:
            if block["type"] != "tool_result":
                break
            results.append(block["tool_use_id"])
        everywhere = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
        for found in everywhere:
            refuse_if(
                found not in asked,
                f"messages.{number}.content.0: unexpected `tool_use_id` found in `tool_result` blocks: {found}. "
                "Each `tool_result` block must have a corresponding `tool_use` block in the previous message.",
            )
        if missing := [call for call in asked if call not in results]:
            raise bad_request(
                f"messages.{number - 1}: `tool_use` ids were found without `tool_result` blocks immediately after: "
                f"{', '.join(missing)}. Each `tool_use` block must have its result in the next message."
            )
        refuse_if(len(set(everywhere)) < len(everywhere), f"messages.{number}: each tool_use must have a single result")
        asked = [block["id"] for block in blocks if block["type"] == "tool_use"]
        refuse_if(seen.intersection(asked) or len(set(asked)) < len(asked), "messages: `tool_use` ids must be unique")
        seen.update(asked)
    if asked:
        raise bad_request(f"messages: `tool_use` ids were found without `tool_result` blocks: {', '.join(asked)}")


def _check_thinking(request: Mapping[str, Any]) -> None:
    thinking = request.get("thinking") or {"type": "disabled"}
    kind = thinking["type"]
    refuse_if(
        kind not in ("enabled", "disabled", "adaptive"),
        f"thinking: Input tag '{kind}' found using 'type' does not match any of the expected tags",
    )
    if kind == "disabled":
        return
    if kind == "enabled":
        budget = thinking.get("budget_tokens")
        refuse_if(
            not isinstance(budget, int) or budget < 1024,
            "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024",
        )
        refuse_if(
            "max_tokens" in request and budget >= request["max_tokens"],
            "`max_tokens` must be greater than `thinking.budget_tokens`.",
        )
    refuse_if(request.get("temperature", 1) != 1, "`temperature` may only be set to 1 when thinking is enabled.")
    refuse_if(
        (request.get("tool_choice") or {}).get("type") in ("any", "tool"),
        "Thinking may not be enabled when tool_choice forces tool use.",
    )
    if kind == "enabled":
        _check_loop(request["messages"])


def _check_loop(messages: Sequence[Mapping[str, Any]]) -> None:
    """Check that a turn with answered calls begins with its reasoning."""
    turns = merge_roles(messages)
    if len(turns) < 2 or turns[-1][0] != "user":
        return
    if not any(block["type"] == "tool_result" for block in turns[-1][1]):
        return
    first = turns[-2][1][0]["type"]
    refuse_if(
        first not in ("thinking", "redacted_thinking"),
        f"messages.{len(turns) - 2}.content.0.type: Expected `thinking` or `redacted_thinking`, but found "
        f"`{first}`. When `thinking` is enabled, a final `assistant` message must start with a thinking block "
        "(preceeding the lastmost set of `tool_use` and `tool_result` blocks).",
    )


_ERRORS: Mapping[Cause, tuple[int, str, str]] = {
    Cause.INTERNAL: (500, "api_error", "Internal server error"),
    Cause.OVERLOADED: (529, "overloaded_error", "Overloaded"),
    Cause.RATE: (429, "rate_limit_error", "This request would exceed your organization's rate limit."),
    Cause.QUOTA: (
        400,
        "invalid_request_error",
        "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to purchase credits.",
    ),
    Cause.PAYMENT: (402, "billing_error", "There is an issue with your billing or payment information."),
    Cause.KEY: (401, "authentication_error", "invalid x-api-key"),
    Cause.NO_KEY: (401, "authentication_error", "x-api-key header is required"),
    Cause.FORBIDDEN: (403, "permission_error", "Your API key does not have permission to use this resource."),
    Cause.BAD_REQUEST: (400, "invalid_request_error", "frobnicate: Extra inputs are not permitted"),
    Cause.NO_MODEL: (404, "not_found_error", "model: fake"),
    Cause.NO_PATH: (404, "not_found_error", "Not Found"),
    Cause.OVERFLOW: (400, "invalid_request_error", "prompt is too long: 208310 tokens > 200000 maximum"),
    Cause.TOO_LARGE: (413, "request_too_large", "Request exceeds the maximum size"),
}


def _turns(request: Mapping[str, Any]) -> Iterator[Turn]:
    if request.get("system"):
        yield Turn("system", get_text(request["system"]))
    for message in request["messages"]:
        blocks = get_blocks(message["content"])
        for block in blocks:
            if block["type"] == "tool_result":
                yield Turn("tool", get_text(block.get("content") or ""))
        if any(block["type"] != "tool_result" for block in blocks):
            yield Turn(message["role"], get_text(blocks))


class _Message(WireWriter):
    """Writer of one reply as events or as one message."""

    def __init__(self, answer: WireAnswer) -> None:
        super().__init__(answer)
        self._blocks = list(_blocks(answer))
        self._stop = "tool_use" if answer.reply.calls else "end_turn"
        if answer.is_(Fault.FILTERED) or answer.reply.truncated:
            self._stop = "max_tokens" if answer.reply.truncated else "refusal"

    def whole(self) -> object:
        usage = {} if self._answer.is_(Fault.NO_USAGE) else {"usage": self._usage(self._output())}
        return {**self._message(), "content": self._blocks, **self._stopped(), **usage}

    def head(self) -> Sequence[Event]:
        usage = {} if self._answer.is_(Fault.NO_USAGE) else {"usage": self._usage(1)}
        return [_event("message_start", message={**self._message(), **usage})]

    def body(self) -> Sequence[Event]:
        rows = [list(self._events_of(n, block)) for n, block in enumerate(self._blocks)]
        plain = [row for row, block in zip(rows, self._blocks, strict=True) if block["type"] != "tool_use"]
        calls = [row for row, block in zip(rows, self._blocks, strict=True) if block["type"] == "tool_use"]
        events = [event for row in plain for event in row]
        events += order_rows(calls, self._reply.fault)
        events.insert(1, _event("ping"))  # like the real server, after the first block has begun
        return events

    def tail(self) -> Sequence[Event]:
        stop = None if self._answer.is_(Fault.NO_FINISH) else self._stop
        usage = {} if self._answer.is_(Fault.NO_USAGE) else {"usage": self._spent(self._output())}
        last = _event("message_delta", delta={**self._stopped(), "stop_reason": stop}, **usage)
        return [last] if self._answer.is_(Fault.NO_DONE) else [last, _event("message_stop")]

    def _stopped(self) -> dict[str, Any]:
        told: dict[str, Any] = {"stop_reason": self._stop, "stop_sequence": None}
        if self._stop == "refusal":
            why = "This request would violate the usage policy."
            told["stop_details"] = {"type": "refusal", "category": None, "explanation": why}
        return told

    def broken(self) -> Event:
        return _event("error", error={"type": "overloaded_error", "message": "Overloaded"})

    def _message(self) -> dict[str, Any]:
        return {
            "id": f"msg_{self._answer.number}",
            "type": "message",
            "role": "assistant",
            "model": self._answer.prompt.model,
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
        }

    def _output(self) -> int:
        return self._answer.said + self._answer.thought

    def _usage(self, output: int) -> Mapping[str, Any]:
        tokens = self._answer.tokens
        return {
            "input_tokens": tokens.input - tokens.read - tokens.written,
            "cache_creation_input_tokens": tokens.written,
            "cache_read_input_tokens": tokens.read,
            "cache_creation": {"ephemeral_5m_input_tokens": tokens.written, "ephemeral_1h_input_tokens": 0},
            **self._spent(output),
            "service_tier": "standard",
        }

    def _spent(self, output: int) -> Mapping[str, Any]:
        thought = min(output, self._answer.thought)
        return {"output_tokens": output, "output_tokens_details": {"thinking_tokens": thought}}

    def _events_of(self, index: int, block: Mapping[str, Any]) -> Iterator[Event]:
        fault = self._reply.fault
        deltas: list[dict[str, Any]] = []
        match block["type"]:
            case "text":
                empty: Mapping[str, Any] = {"type": "text", "text": ""}
                deltas = [{"type": "text_delta", "text": piece} for piece in split_text(block["text"])]
            case "thinking":
                empty = {"type": "thinking", "thinking": "", "signature": ""}
                deltas = [{"type": "thinking_delta", "thinking": piece} for piece in split_text(block["thinking"])]
                deltas.append({"type": "signature_delta", "signature": block["signature"]})
            case "tool_use":
                empty = {**block, "input": {}}
                _, arguments = self._reply.calls[index - len(self._blocks)]
                parts = ["", *split_arguments(arguments, fault)]
                deltas = [{"type": "input_json_delta", "partial_json": part} for part in parts]
            case _:
                empty = block
        yield _event("content_block_start", index=index, content_block=empty)
        for delta in deltas:
            yield _event("content_block_delta", index=index, delta=delta)
        yield _event("content_block_stop", index=index)


def _event(kind: str, **fields: object) -> Event:
    return Event(dump({"type": kind, **fields}), kind)


def _blocks(answer: WireAnswer) -> Iterator[dict[str, Any]]:
    reply, prompt = answer.reply, answer.prompt
    if prompt.thinks and reply.reasoning:
        if answer.is_(Fault.REDACTED):
            yield {"type": "redacted_thinking", "data": seal(reply.reasoning)}
        else:
            shown = reply.reasoning if prompt.shows else ""
            bound = f".{binding(prompt.segments)}" if binds_thinking(prompt.model) else ""
            yield {"type": "thinking", "thinking": shown, "signature": f"{sign(shown)}{bound}"}
    if reply.text:
        yield {"type": "text", "text": reply.text}
    for n, (name, arguments) in enumerate(reply.calls):
        identity = "" if answer.is_(Fault.NO_IDS) else answer.call_id(n, "toolu_")
        yield {"type": "tool_use", "id": identity, "name": name, "input": (parse_json_object(arguments) or {})}


class Anthropic(Wire):
    """Implements `Wire`."""

    writes = _Message

    def key(self, http_request: HttpRequest) -> str:
        return http_request.headers.get("x-api-key") or super().key(http_request)

    def read(self, http_request: HttpRequest, request: Mapping[str, Any]) -> Prompt:
        check(http_request, request)
        blocks, marks = segments(request)
        thinking = request.get("thinking") or {}
        return Prompt(
            model=request["model"],
            stream=bool(request.get("stream")),
            request=request,
            turns=list(_turns(request)),
            segments=blocks,
            marks=marks,
            thinks=thinking.get("type") in ("enabled", "adaptive"),
            shows=thinking.get("display") != "omitted",
        )

    def refuse(self, refusal: WireRefusal, number: str, http_request: HttpRequest) -> bytes:
        status, kind, message = _ERRORS[refusal.cause]
        request_id = f"req_{number}"
        error = {"type": kind, "message": refusal.message or message}
        named = {**self.headers(number, refusal.wait if refusal.cause is Cause.RATE else None), **refusal.retry_after}
        body = {"type": "error", "error": error, "request_id": request_id}
        return make_json_response(refusal.status or status, body, named)

    def headers(self, number: str, wait: float | None = None) -> Mapping[str, str]:
        # https://platform.claude.com/docs/en/api/rate-limits
        reset = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + (wait or 0.0)))
        named = {"request-id": f"req_{number}", "anthropic-organization-id": "org_fake"}
        for kind, limit in (("requests", 50), ("tokens", 90_000), ("input-tokens", 50_000), ("output-tokens", 10_000)):
            left = 0 if wait is not None and kind == "requests" else limit - 1
            named[f"anthropic-ratelimit-{kind}-limit"] = str(limit)
            named[f"anthropic-ratelimit-{kind}-remaining"] = str(left)
            named[f"anthropic-ratelimit-{kind}-reset"] = reset
        return named
