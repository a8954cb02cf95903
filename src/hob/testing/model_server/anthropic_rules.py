"""What Anthropic refuses a request for, and the parts of a prompt that its cache compares.

https://platform.claude.com/docs/en/api/errors, .../agents-and-tools/tool-use/implement-tool-use,
.../build-with-claude/extended-thinking, .../build-with-claude/prompt-caching
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from hob.testing.model_server.hypertext import Asked
from hob.testing.model_server.signatures import is_signed, sign, unseal
from hob.testing.model_server.wire import bad, words

_FIELDS = words(
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
_MOST_MARKS = 4


def blocks_of(content: Any) -> Sequence[Mapping[str, Any]]:
    """A content as blocks; a string is one block of text."""
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def text_of(content: Any) -> str:
    """The text of a content."""
    return "\n".join(block["text"] for block in blocks_of(content) if block["type"] == "text")


def segments(request: Mapping[str, Any]) -> tuple[list[object], list[int]]:
    """The blocks in the order of the cache (tools, system, messages) and which of them are marked."""
    found: list[object] = []
    marks: list[int] = []

    def add(block: Mapping[str, Any], **where: object) -> None:
        if block.get("cache_control"):
            marks.append(len(found))
        found.append({**where, **{name: value for name, value in block.items() if name != "cache_control"}})

    for tool in request.get("tools") or ():
        add(tool)
    for block in blocks_of(request.get("system") or []):
        add(block)
    for message in request["messages"]:
        for block in blocks_of(message["content"]):
            add(block, role=message["role"])
            if isinstance(block.get("content"), list) and any(part.get("cache_control") for part in block["content"]):
                marks.append(len(found) - 1)
    if request.get("cache_control") and found:
        marks.append(len(found) - 1)
    return found, marks


def check(asked: Asked, request: Mapping[str, Any]) -> None:
    """Raises Refused."""
    if not asked.headers.get("anthropic-version"):
        raise bad("anthropic-version: header is required")
    for name in request:
        if name not in _FIELDS:
            raise bad(f"{name}: Extra inputs are not permitted")
    counting = asked.path.partition("?")[0].endswith("/count_tokens")
    for name in ("model", "messages") if counting else ("model", "max_tokens", "messages"):
        if name not in request:
            raise bad(f"{name}: Field required")
    if not isinstance(request["model"], str) or not request["model"]:
        raise bad("model: Input should be a valid string")
    most = request.get("max_tokens", 1)
    if not isinstance(most, int) or most < 1:
        raise bad("max_tokens: Input should be greater than or equal to 1")
    _check_tools(request.get("tools") or ())
    _check_messages(request["messages"])
    _check_thinking(request)
    if binds_thinking(request["model"]):
        _check_bindings(request)
    marks = segments(request)[1]
    if len(marks) > _MOST_MARKS:
        raise bad(f"A maximum of 4 blocks with cache_control may be provided. Found {len(marks)}.")


def _check_tools(tools: Sequence[Mapping[str, Any]]) -> None:
    names = []
    for number, tool in enumerate(tools):
        where = f"tools.{number}.custom"
        if tool.get("type", "custom") != "custom":
            continue
        if not _NAME.fullmatch(tool["name"]):
            raise bad(f"{where}.name: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'")
        if "input_schema" not in tool:
            raise bad(f"{where}.input_schema: Field required")
        schema = tool["input_schema"]
        if schema.get("type") != "object":
            raise bad(f"{where}.input_schema.type: Input should be 'object'")
        if {"oneOf", "allOf", "anyOf"} & schema.keys():
            raise bad(f"{where}.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level")
        for name in schema.get("properties", ()):
            if not re.fullmatch(r"[a-zA-Z0-9_.-]{1,64}", name):
                raise bad(f"{where}.input_schema.properties: Property keys should match '^[a-zA-Z0-9_.-]{{1,64}}$'")
        names.append(tool["name"])
    if len(set(names)) < len(names):
        raise bad("tools: Tool names must be unique.")


def _check_messages(messages: Sequence[Mapping[str, Any]]) -> None:
    """Messages of one role after the other are one message to the real server, and so they are here."""
    if not isinstance(messages, list) or not messages:
        raise bad("messages: at least one message is required")
    for number, message in enumerate(messages):
        if message["role"] not in ("user", "assistant"):
            raise bad(f'messages.{number}: Unexpected role "{message["role"]}". Roles are "user" and "assistant".')
        if message.keys() - {"role", "content"}:
            extra = min(message.keys() - {"role", "content"})
            raise bad(f"messages.{number}.{extra}: Extra inputs are not permitted")
        last = number == len(messages) - 1 and message["role"] == "assistant"
        if not message["content"] and not last:
            raise bad(f"messages.{number}: all messages must have non-empty content")
        for place, block in enumerate(blocks_of(message["content"])):
            _check_block(block, message["role"], f"messages.{number}.content.{place}")
    if messages[0]["role"] != "user":
        raise bad('messages: first message must use the "user" role')
    _check_results(messages)


_BLOCKS: Mapping[str, tuple[str, frozenset[str], frozenset[str]]] = {
    # type -> whose it is, what it must have, what it may have besides `cache_control`
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
    if kind not in _BLOCKS or _BLOCKS[kind][0] not in ("", role):
        raise bad(f"{where}: Input tag '{kind}' found using 'type' does not match any of the expected tags")
    _, needed, allowed = _BLOCKS[kind]
    keys = block.keys() - {"type", "cache_control"}
    if needed - keys:
        raise bad(f"{where}.{kind}.{min(needed - keys)}: Field required")
    if keys - needed - allowed:
        raise bad(f"{where}.{kind}.{min(keys - needed - allowed)}: Extra inputs are not permitted")
    if "cache_control" in block and kind.endswith("thinking"):
        raise bad(f"{where}.{kind}.cache_control: Extra inputs are not permitted")
    match kind:
        case "text" if not block["text"]:
            raise bad(f"{where}: text content blocks must be non-empty")
        case "tool_use":
            if not _ID.fullmatch(block["id"]):
                raise bad(f"{where}.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'")
            if not isinstance(block["input"], dict):
                raise bad(f"{where}.tool_use.input: Input should be a valid dictionary")
        case "thinking" if not is_signed(block["thinking"], str(block["signature"]).partition(".")[0]):
            raise bad(f"{where}: Invalid `signature` in `thinking` block")
        case "redacted_thinking" if unseal(block["data"]) is None:
            raise bad(f"{where}: Invalid `data` in `redacted_thinking` block")
        case "image":
            _check_source(block["source"], where)


def binds_thinking(model: str) -> bool:
    """Is what the model thought worth nothing after another beginning?

    https://platform.claude.com/docs/en/build-with-claude/preserved-thinking
    """
    return bool(_BINDING.search(model))


def binding(before: Sequence[object]) -> str:
    """What a signature says of all that was told before the thought."""
    return sign(json.dumps(before, sort_keys=True))


def _check_bindings(request: Mapping[str, Any]) -> None:
    """Nothing before a thought may have changed since."""
    for number, message in enumerate(request["messages"]):
        for place, block in enumerate(blocks_of(message["content"])):
            if block["type"] != "thinking":
                continue
            before, _ = segments({**request, "messages": request["messages"][:number]})
            if block["signature"].partition(".")[2] != binding(before):
                raise bad(
                    f"messages.{number}.content.{place}: Invalid `signature` in `thinking` block. The block is bound "
                    "to a different conversation. Remove the block, or set `thinking.block_binding."
                    'prefix_mismatch_behavior` to "drop_block".'
                )


def _check_source(source: Mapping[str, Any], where: str) -> None:
    if source["type"] == "base64" and source["media_type"] not in _IMAGES:
        kinds = ", ".join(f"'{kind}'" for kind in _IMAGES)
        raise bad(f"{where}.image.source.base64.media_type: Input should be one of {kinds}")


def merged(messages: Sequence[Mapping[str, Any]]) -> list[tuple[str, list[Mapping[str, Any]]]]:
    """The conversation's turns: neighbours of one role are one."""
    turns: list[tuple[str, list[Mapping[str, Any]]]] = []
    for message in messages:
        if not turns or turns[-1][0] != message["role"]:
            turns.append((message["role"], []))
        turns[-1][1].extend(blocks_of(message["content"]))
    return turns


def _check_results(messages: Sequence[Mapping[str, Any]]) -> None:
    """Each call is answered at the beginning of the next turn, and nothing else is answered."""
    asked: list[str] = []
    seen: set[str] = set()
    for number, (_, blocks) in enumerate(merged(messages)):
        results: list[str] = []
        for block in blocks:
            if block["type"] != "tool_result":
                break
            results.append(block["tool_use_id"])
        everywhere = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
        for found in everywhere:
            if found not in asked:
                raise bad(
                    f"messages.{number}.content.0: unexpected `tool_use_id` found in `tool_result` blocks: {found}. "
                    "Each `tool_result` block must have a corresponding `tool_use` block in the previous message."
                )
        if missing := [call for call in asked if call not in results]:
            raise bad(
                f"messages.{number - 1}: `tool_use` ids were found without `tool_result` blocks immediately after: "
                f"{', '.join(missing)}. Each `tool_use` block must have its result in the next message."
            )
        if len(set(everywhere)) < len(everywhere):
            raise bad(f"messages.{number}: each tool_use must have a single result")
        asked = [block["id"] for block in blocks if block["type"] == "tool_use"]
        if seen.intersection(asked) or len(set(asked)) < len(asked):
            raise bad("messages: `tool_use` ids must be unique")
        seen.update(asked)
    if asked:
        raise bad(f"messages: `tool_use` ids were found without `tool_result` blocks: {', '.join(asked)}")


def _check_thinking(request: Mapping[str, Any]) -> None:
    thinking = request.get("thinking") or {"type": "disabled"}
    kind = thinking["type"]
    if kind not in ("enabled", "disabled", "adaptive"):
        raise bad(f"thinking: Input tag '{kind}' found using 'type' does not match any of the expected tags")
    if kind == "disabled":
        return
    if kind == "enabled":
        budget = thinking.get("budget_tokens")
        if not isinstance(budget, int) or budget < 1024:
            raise bad("thinking.enabled.budget_tokens: Input should be greater than or equal to 1024")
        if "max_tokens" in request and budget >= request["max_tokens"]:
            raise bad("`max_tokens` must be greater than `thinking.budget_tokens`.")
    if request.get("temperature", 1) != 1:
        raise bad("`temperature` may only be set to 1 when thinking is enabled.")
    if (request.get("tool_choice") or {}).get("type") in ("any", "tool"):
        raise bad("Thinking may not be enabled when tool_choice forces tool use.")
    if kind == "enabled":
        _check_loop(request["messages"])


def _check_loop(messages: Sequence[Mapping[str, Any]]) -> None:
    """While calls are being answered, the turn that asked for them begins with what was thought."""
    turns = merged(messages)
    if len(turns) < 2 or turns[-1][0] != "user":
        return
    if not any(block["type"] == "tool_result" for block in turns[-1][1]):
        return
    first = turns[-2][1][0]["type"]
    if first not in ("thinking", "redacted_thinking"):
        raise bad(
            f"messages.{len(turns) - 2}.content.0.type: Expected `thinking` or `redacted_thinking`, but found "
            f"`{first}`. When `thinking` is enabled, a final `assistant` message must start with a thinking block "
            "(preceeding the lastmost set of `tool_use` and `tool_result` blocks)."
        )
