"""Blocks of calls in the formats that small models were trained on.

A block begins with one of `OPENERS`, or is the whole answer. `judge` says whether the text so far is a block of calls,
plain text, or undecided. A decision about a beginning holds for every longer text, so it does not matter how a stream
was split.

Formats: Hermes and Qwen `<tool_call>` (https://huggingface.co/NousResearch/Hermes-3-Llama-3.1-8B), Qwen-Coder
`<function=…>`, GLM `<arg_key>`, Mistral `[TOOL_CALLS]` (https://docs.mistral.ai/capabilities/function_calling), Llama 3
`<|python_tag|>` and Python lists (https://www.llama.com/docs/model-cards-and-prompt-formats/llama3_2), Granite and Phi
`<|tool_call|>`, `functools[…]`, DeepSeek with full-width bars, Gemma ```` ```tool_code ```` and FunctionGemma
`<start_function_call>` (https://ai.google.dev/gemma/docs/capabilities/function-calling), fenced and bare JSON.
"""

import re
from collections.abc import Callable, Mapping
from enum import Enum
from typing import NamedTuple

from hob.providers.text_tools.calls import (
    ARGUMENT,
    ESCAPED,
    FIRST_KEYS,
    PARAMETER,
    Calls,
    Tools,
    WrittenCall,
    find_name,
    find_value_end,
    json_calls,
    parse_lenient,
    parse_tagged_arguments,
    python_calls,
)

_BAR = "\uff5c"  # full width
_DS_CALLS, _DS_CALL = f"<{_BAR}tool\u2581calls\u2581begin{_BAR}>", f"<{_BAR}tool\u2581call\u2581begin{_BAR}>"
_DS_END, _DS_ENDS = f"<{_BAR}tool\u2581call\u2581end{_BAR}>", f"<{_BAR}tool\u2581calls\u2581end{_BAR}>"
_DS_SEP = f"<{_BAR}tool\u2581sep{_BAR}>"
_NAME = r"[A-Za-z_][\w-]{0,63}"
_MAX_HEADER = 200  # characters between an opener and the arguments


class BlockState(Enum):
    """State of a block without calls."""

    UNKNOWN = "unknown"
    TEXT = "text"


class FoundBlock(NamedTuple):
    """A block's calls, where it ends, and whether a closing code fence is still expected."""

    calls: Calls
    end: int
    fenced: bool = False


Verdict = FoundBlock | BlockState


class CallBlock(NamedTuple):
    """A text that begins with an opener, the available tools, and whether the text is complete."""

    text: str
    tools: Tools
    final: bool

    def found(self, calls: Calls, end: int, *, fenced: bool = False) -> Verdict:
        """Return a found block with these calls, if there are any."""
        return FoundBlock(calls, end, fenced) if calls else BlockState.TEXT

    @property
    def unfinished(self) -> BlockState:
        """The state if more text would be needed."""
        return BlockState.TEXT if self.final else BlockState.UNKNOWN

    def skip_space(self, start: int) -> int:
        """Return the first position from `start` on that is not white space."""
        while start < len(self.text) and self.text[start].isspace():
            start += 1
        return start

    def may_begin(self, word: str, start: int) -> bool:
        """Whether the text ends within a beginning of the word."""
        return len(self.text) - start < len(word) and word.startswith(self.text[start:])


def judge(opening_tag: str, block: CallBlock, *, after_calls: bool = False) -> Verdict:
    """Classify the block. An empty opener means the whole answer, or another object after earlier calls."""
    if not opening_tag:
        return _json(block, 0, "", marked=True) if after_calls else _whole(block)
    return OPENERS[opening_tag](block, opening_tag)


def _json(block: CallBlock, start: int, closing_tag: str, *, marked: bool, fenced: bool = False) -> Verdict:
    """Read an object or a list. Broken JSON ends at the closer, or with the answer."""
    body = _body(block, start, closing_tag)
    if body is None:
        return BlockState.UNKNOWN
    return block.found(json_calls(body, block.tools, marked=marked), start + len(body), fenced=fenced)


def _arguments(block: CallBlock, name: str, start: int, closing_tag: str) -> Verdict:
    """Read the JSON object with the arguments of a call whose name precedes it."""
    body = _body(block, start, closing_tag)
    return BlockState.UNKNOWN if body is None else FoundBlock((WrittenCall(name, body.strip()),), start + len(body))


def _body(block: CallBlock, start: int, closing_tag: str) -> str | None:
    """Return the JSON that begins here; None while its end may still come."""
    end = find_value_end(block.text, start)
    if end < 0 and not block.final:
        return None
    body = block.text[start:] if end < 0 else block.text[start:end]
    return (
        body[: body.index(closing_tag)] if closing_tag and closing_tag in body and parse_lenient(body) is None else body
    )


def _tag(block: CallBlock, opening_tag: str) -> Verdict:
    """Read JSON after a tag, or another known form."""
    start = block.skip_space(len(opening_tag))
    if start == len(block.text):
        return block.unfinished
    if block.text[start] in "{[":
        return _json(block, start, opening_tag.replace("<", "</").replace("</|", "<|/"), marked=True)
    if opening_tag == "<|python_tag|>":
        return _python(block, start)
    if opening_tag != "<tool_call>":
        return BlockState.TEXT
    if block.text.startswith("<function=", start):
        return _function(block, start)
    return block.unfinished if block.may_begin("<function=", start) else _glm(block, start)


def _functools(block: CallBlock, opening_tag: str) -> Verdict:
    return _json(block, len(opening_tag) - 1, "", marked=True)


def _function(block: CallBlock, start: int) -> Verdict:
    """Read `<function=name>`, followed by JSON or one tag per parameter."""
    header = re.compile(rf"<function=({_NAME})>\s*").match(block.text, start)
    if header is None:
        rest = block.text[start:]
        return block.unfinished if ">" not in rest and len(rest) < _MAX_HEADER else BlockState.TEXT
    name = find_name(header[1], block.tools)
    if name is None:
        return BlockState.TEXT
    if header.end() == len(block.text) and not block.final:
        return BlockState.UNKNOWN
    if block.text.startswith("{", header.end()):
        return _arguments(block, name, header.end(), "</function>")
    return _parameters(block, name, header.end(), "</function>", PARAMETER)


def _parameters(block: CallBlock, name: str, start: int, closing_tag: str, form: re.Pattern[str]) -> Verdict:
    end = block.text.find(closing_tag, start)
    if end < 0:
        if not block.final:
            return BlockState.UNKNOWN
        end = len(block.text)
    pairs = [(found[1].strip(), found[2]) for found in form.finditer(block.text[start:end])]
    return FoundBlock((WrittenCall(name, parse_tagged_arguments(pairs, block.tools[name])),), end)


def _glm(block: CallBlock, start: int) -> Verdict:
    """Read a name, then pairs of `<arg_key>` and `<arg_value>`."""
    header = re.compile(rf"({_NAME})\s*(?=<)").match(block.text, start)
    if header is None:
        part = re.compile(rf"{_NAME}\s*").fullmatch(block.text, start)
        return block.unfinished if part else BlockState.TEXT
    name = find_name(header[1], block.tools)
    if name is None:
        return BlockState.TEXT
    for follows in ("<arg_key>", "</tool_call>"):
        if block.text.startswith(follows, header.end()):
            return _parameters(block, name, header.end(), "</tool_call>", ARGUMENT)
        if block.may_begin(follows, header.end()):
            return block.unfinished
    return BlockState.TEXT


def _mistral(block: CallBlock, opening_tag: str) -> Verdict:
    """Read a list of calls, or names with arguments."""
    start = block.skip_space(len(opening_tag))
    if block.text.startswith("[", start):
        return _json(block, start, "", marked=True)
    header = re.compile(rf"({_NAME})(?:\[CALL_ID\][\w-]{{0,64}})?(?:\[ARGS\])?\s{{0,20}}(?=\{{)").match(
        block.text, start
    )
    if header is None:
        rest = block.text[start:]
        return block.unfinished if "{" not in rest and len(rest) < _MAX_HEADER else BlockState.TEXT
    name = find_name(header[1], block.tools)
    return BlockState.TEXT if name is None else _arguments(block, name, header.end(), opening_tag)


def _deepseek_calls(block: CallBlock, opening_tag: str) -> Verdict:
    start = block.skip_space(len(opening_tag))
    if start == len(block.text) or block.may_begin(_DS_CALL, start):
        return block.unfinished
    return _deepseek(block, block.text[start : start + len(_DS_CALL)], start)


def _deepseek(block: CallBlock, opening_tag: str, start: int = 0) -> Verdict:
    """Read a name and JSON, or the word `function`, a name, and fenced JSON."""
    if opening_tag != _DS_CALL:
        return BlockState.TEXT
    form = rf"(?:function{_DS_SEP})?({_NAME})(?:{_DS_SEP}|\s{{0,20}}```json)?\s{{0,20}}(?=\{{)"
    header = re.compile(form).match(block.text, start + len(opening_tag))
    if header is None:
        rest = block.text[start + len(opening_tag) :]
        return block.unfinished if "{" not in rest and len(rest) < _MAX_HEADER else BlockState.TEXT
    name = find_name(header[1], block.tools)
    verdict = BlockState.TEXT if name is None else _arguments(block, name, header.end(), _DS_END)
    return verdict._replace(fenced="```" in header[0]) if isinstance(verdict, FoundBlock) else verdict


def _gemma(block: CallBlock, opening_tag: str) -> Verdict:
    end = block.text.find("<end_function_call>", len(opening_tag))
    if end < 0:
        return block.unfinished
    call = re.fullmatch(rf"\s*call:({_NAME})\{{(.*)\}}\s*", block.text[len(opening_tag) : end], re.DOTALL)
    name = find_name(call[1], block.tools) if call else None
    if call is None or name is None:
        return BlockState.TEXT
    pairs = [(part[1], part[2] if part[2] is not None else part[3]) for part in ESCAPED.finditer(call[2])]
    return FoundBlock((WrittenCall(name, parse_tagged_arguments(pairs, block.tools[name])),), end)


def _fence(block: CallBlock, opening_tag: str) -> Verdict:
    """Read a code block: JSON, Python for Gemma's `tool_code`, or another block of calls inside it."""
    line = re.compile(r"[ \t]*([\w-]{0,20})[ \t]*(\r?\n)?").match(block.text, len(opening_tag))
    if line is None or not line[2]:
        end = line.end() if line else len(opening_tag)
        return block.unfinished if end == len(block.text) or block.text[end:] == "\r" else BlockState.TEXT
    start = block.skip_space(line.end())
    if start == len(block.text):
        return block.unfinished
    for inner in OPENERS:
        if inner != opening_tag and block.text.startswith(inner, start):
            verdict = judge(inner, CallBlock(block.text[start:], block.tools, block.final))
            return (
                verdict._replace(end=verdict.end + start, fenced=True) if isinstance(verdict, FoundBlock) else verdict
            )
        if block.may_begin(inner, start):
            return block.unfinished
    info = line[1].lower()
    marked = info in ("tool_call", "tool_calls", "tool_code", "function_call")
    if not marked and info not in ("", "json"):
        return BlockState.TEXT
    if block.text[start] in "{[":
        fits = marked or _may_be_call(block, start)
        return _json(block, start, "\n```", marked=marked, fenced=True) if fits else BlockState.TEXT
    verdict = _python(block, start) if marked else BlockState.TEXT
    return verdict._replace(fenced=True) if isinstance(verdict, FoundBlock) else verdict


def _may_be_call(block: CallBlock, start: int) -> bool:
    """Whether JSON that begins like this may be a call: other JSON need not be held back to its end."""
    begun = re.compile(r"""(?:\[\s*)?(?:\{\s*(?:["'](\w*)(["']?))?)?""").match(block.text, start)
    if begun is None or begun.end() == start:
        return False
    return begun[1] in FIRST_KEYS if begun[2] else begun.end() == len(block.text)


def _python(block: CallBlock, start: int) -> Verdict:
    """Read a Python call of an available tool."""
    header = re.compile(rf"(?:print\(\s*)?(?!print\b)({_NAME}(?:\.{_NAME})?)\s*\(").match(block.text, start)
    if header is None:
        begun = re.compile(rf"(?:print\(\s*)?(?:{_NAME}\.?(?:{_NAME})?\s*)?").fullmatch(block.text, start)
        return block.unfinished if begun else BlockState.TEXT
    if find_name(header[1], block.tools) is None:
        return BlockState.TEXT
    end = _find_closing(block.text, start)
    return block.unfinished if end < 0 else block.found(python_calls(block.text[start:end], block.tools), end)


_PAREN = re.compile(r""""(?:[^"\\]++|\\.)*"|'(?:[^'\\]++|\\.)*'|[()\[\]{}"']""", re.DOTALL)


def _find_closing(text: str, start: int) -> int:
    """Return where the first bracket from `start` on is closed by Python's rules, or -1."""
    depth = 0
    for token in _PAREN.finditer(text, start):
        if token[0] in "([{":
            depth += 1
        elif token[0] in ")]}":
            depth -= 1
            if depth == 0:
                return token.end()
        elif len(token[0]) == 1:
            return -1
    return -1


def _whole(block: CallBlock) -> Verdict:
    """Read an answer that consists only of calls: consecutive objects, a JSON list, or a Python list."""
    listed = re.compile(rf"\[\s*({_NAME}(?:\.{_NAME})?)\s*\(").match(block.text)
    if listed and find_name(listed[1], block.tools):
        end = _find_closing(block.text, 0)
        if end >= 0 and block.skip_space(end) < len(block.text):
            return BlockState.TEXT
        return (
            block.found(python_calls(block.text, block.tools), len(block.text)) if block.final else BlockState.UNKNOWN
        )
    if re.compile(rf"\[\s*(?:{_NAME}\.?(?:{_NAME})?\s*)?").fullmatch(block.text):
        return block.unfinished
    calls: list[WrittenCall] = []
    start = 0
    while start < len(block.text):
        if block.text[start] not in "{[" or not _may_be_call(block, start):
            return BlockState.TEXT
        verdict = _json(block, start, "", marked=False)
        if not isinstance(verdict, FoundBlock):
            return verdict
        calls += verdict.calls
        start = verdict.end
        while start < len(block.text) and (block.text[start].isspace() or block.text[start] in ";,"):
            start += 1
    return block.found(tuple(calls), start) if block.final else BlockState.UNKNOWN


OPENERS: Mapping[str, Callable[[CallBlock, str], Verdict]] = {
    "<tool_call>": _tag,
    "<function_call>": _tag,
    "<|tool_call|>": _tag,
    "<|python_tag|>": _tag,
    "<function=": lambda block, _: _function(block, 0),
    "<start_function_call>": _gemma,
    "[TOOL_CALLS]": _mistral,
    "functools[": _functools,
    _DS_CALLS: _deepseek_calls,
    _DS_CALL: _deepseek,
    "```": _fence,
}
"""Possible beginnings of a block of calls, each with its reader."""

CLOSERS = (
    *("</tool_call>", "</function>", "</function_call>", "<|/tool_call|>", "<end_function_call>", "<|eom_id|>"),
    *(_DS_END, _DS_ENDS, "<|im_end|>", "<|eot_id|>", "</s>", "]", ")", ";", ","),
)
"""Texts that may separate two blocks of calls."""
