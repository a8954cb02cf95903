"""The tools `remember`, `recall`, `memory_search`, `memory_get` and `update_working_memory`."""

import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

from hob.core.clock import utc_day
from hob.core.errors import InvalidCall
from hob.core.ids import SessionKey
from hob.core.memory import SECTION, Memory, MemoryItem, WorkingNote, is_private
from hob.core.ports.memory import Recall, Remember, WorkingNotes
from hob.core.ports.tools import CallContext, Toolset
from hob.core.tools import ToolCall, ToolResult, ToolSpec
from hob.core.trust.labels import HOB_LABEL, Label, Origin, Trust, combine_trust
from hob.core.turns import Turn, memory_scope
from hob.tools.memory.ports import MemorySearch
from hob.tools.memory.specs import MEMORY_GET, MEMORY_SEARCH, RECALL, REMEMBER, UPDATE_WORKING_MEMORY
from hob.tools.registry.declaration import ToolOutput, Tools, implements

_LONGEST = 4_000
_LONGEST_NOTE = 2_000  # characters; the note is part of every prompt of its session
_MAX = 50
_LONGEST_RESULT = 700
_LONGEST_READ = 12_000
_USUAL = 8
_NOTHING = "(nothing)"
_WORDS_ONLY = "[by words alone: the embedder failed]"


class MemoryTools:
    """The tools on top of the memory ports. A group's session keeps its own memories and sees no others."""

    def __init__(self, memories: Remember, memory: MemorySearch, working: WorkingNotes) -> None:
        self._memories = memories
        self._memory = memory
        self._working = working
        self.toolset = Tools(
            self.remember, self.recall, self.memory_search, self.memory_get, self.update_working_memory
        )

    @implements(REMEMBER, HOB_LABEL)
    async def remember(self, text: str, context: CallContext) -> str:
        text = _checked(text.strip())
        if not text:
            raise InvalidCall("the text is empty.")
        if is_private(context.turn.session):
            raise InvalidCall("this conversation is private: nothing of it is remembered.")
        label = Label(Origin.MODEL, context.trust)
        source = f"{context.turn.session}, {context.turn.id}"  # so that erasing either of them finds it
        await self._memories.remember(text, SessionKey(memory_scope(context.turn).person), label, source)
        if context.trust is Trust.UNTRUSTED:
            return "Kept, marked as untrusted: this conversation holds text from elsewhere."
        return "Kept."

    @implements(RECALL)
    async def recall(
        self,
        query: str,
        context: CallContext,
        limit: int = _USUAL,
        untrusted: bool = False,
    ) -> ToolOutput:
        limit = min(max(limit, 1), _MAX)
        found = await self._memory.recall(query, SessionKey(memory_scope(context.turn).person), limit)
        lines, labels = _told(found, untrusted, cited=self._memory.cites(context.turn))
        lines = lines or [_NOTHING]
        note = await self._working.load(context.turn.session) if untrusted else None
        if note is not None and not note.label.trusted:  # a trusted note is already in the prompt
            lines.append(f"- {note.text} [this conversation's working note, untrusted]")
            labels.append(note.label)
        lines += [_WORDS_ONLY] if self._memory.problem else []
        return ToolOutput("\n".join(lines), Label(Origin.TOOL, combine_trust(labels)))

    @implements(MEMORY_SEARCH)
    async def memory_search(
        self, query: str, context: CallContext, limit: int = 6, untrusted: bool = False, layer: str = ""
    ) -> ToolOutput:
        limit, layers = min(max(limit, 1), _MAX), (layer,) if layer else ()
        found = [each.item for each in await self._memory.search(query, memory_scope(context.turn), limit, layers)]
        shown = [item for item in found if untrusted or item.label.trusted]
        cited = self._memory.cites(context.turn)
        lines = [_item_line(item, _LONGEST_RESULT, cited=cited) for item in shown]
        if left := _left_out([item.label for item in found if item not in shown]):
            lines.append(f"[{left}; to read them too, set untrusted=true]")
        lines = [*(lines or [_NOTHING]), *([_WORDS_ONLY] if self._memory.problem else [])]
        return ToolOutput("\n".join(lines), Label(Origin.TOOL, combine_trust(item.label for item in shown)))

    @implements(MEMORY_GET)
    async def memory_get(self, path: str, context: CallContext, start: int = 1, lines: int = 120) -> ToolOutput:
        scope = memory_scope(context.turn)
        shown = await self._memory.around(path, scope)
        if not shown:
            sections = await self._memory.sections(path, scope)
            shown = [each for each in sections if start <= each.position < start + lines]
        cited = self._memory.cites(context.turn)
        text = "\n".join(_item_line(each, _LONGEST_READ, cited=cited) for each in shown)
        return ToolOutput(text[:_LONGEST_READ], Label(Origin.TOOL, combine_trust(each.label for each in shown)))

    @implements(UPDATE_WORKING_MEMORY, HOB_LABEL)
    async def update_working_memory(
        self,
        content: str,
        context: CallContext,
        everywhere: bool = False,
    ) -> ToolOutput:
        content = _checked(content.strip(), _LONGEST_NOTE)
        session = context.turn.session
        if everywhere:
            if is_private(session):
                raise InvalidCall("this conversation is private: nothing of it is kept for others.")
            session = SessionKey(memory_scope(context.turn).person)
        before = await self._working.load(session)
        note = WorkingNote(content, Label(Origin.MODEL, context.trust), turn=context.turn.id)
        await self._working.put(session, note)
        if before is None:
            return ToolOutput("Kept.")
        return ToolOutput(f"Kept, in place of:\n{before.text}", before.label)


class PluginMemories:
    """Implements `Toolset` over plug-ins' tools. `recall` also searches the plug-ins' sources."""

    def __init__(
        self, toolset: Toolset, sources: Sequence[Recall], cites: Callable[[Turn], bool] = lambda turn: True
    ) -> None:
        """`cites` is that of `MemorySearch`."""
        self._toolset = toolset
        self._sources = sources
        self._cites = cites

    def specs(self) -> tuple[ToolSpec, ...]:
        return self._toolset.specs()

    async def call(self, call: ToolCall, context: CallContext) -> ToolResult:
        """Make the call. Raises InvalidCall, ToolRefused."""
        result = await self._toolset.call(call, context)
        if call.name != "recall" or result.is_error:
            return result
        asked = json.loads(call.arguments)
        limit = min(max(asked.get("limit", _USUAL), 1), _MAX)
        session = SessionKey(memory_scope(context.turn).person)
        found = [memory for each in self._sources for memory in await each.recall(asked["query"], session, limit)]
        lines, labels = _told(found, asked.get("untrusted", False), cited=self._cites(context.turn))
        own = [] if result.text == _NOTHING and lines else [result.text]
        trust = combine_trust([result.label, *labels])
        return replace(result, text="\n".join([*own, *lines]), label=Label(Origin.TOOL, trust))


def _checked(text: str, longest: int = _LONGEST) -> str:
    if len(text) > longest:
        raise InvalidCall(f"the text has {len(text):,} characters; at most {longest:,} are kept: shorten it.")
    return text


def _told(found: Sequence[Memory], untrusted: bool, *, cited: bool) -> tuple[list[str], list[Label]]:
    """Format the memories that may be shown and count the others; return their labels too."""
    shown = [memory for memory in found if untrusted or memory.label.trusted]
    lines = [_line(memory, cited=cited) for memory in shown]
    if left := _left_out([memory.label for memory in found if memory not in shown]):
        lines.append(f"[{left}; to read them too, set untrusted=true]")
    return lines, [memory.label for memory in shown]


def _line(memory: Memory, *, cited: bool) -> str:
    day = utc_day(memory.at) if memory.at else "undated"
    return f"- {memory.text} [{day}{_where(memory.source, memory.label, cited)}{_trust(memory.label)}]"


def _item_line(item: MemoryItem, longest: int, *, cited: bool) -> str:
    where = _where(item.evidence[0] if item.kind == SECTION and item.evidence else item.source, item.label, cited)
    who = f"{item.speaker}, " if item.speaker else ""
    return f"- {item.text[:longest]} [{who}{utc_day(item.at)}{where}, {item.id[:12]}{_trust(item.label)}]"


def _where(source: str, label: Label, cited: bool) -> str:
    return f", {source}" if cited or not label.trusted else ""


def _trust(label: Label) -> str:
    return "" if label.trusted else ", untrusted"


def _left_out(labels: Sequence[Label]) -> str:
    counts = Counter(label.origin for label in labels)
    return ", ".join(f"{count} more from {origin}" for origin, count in counts.items())
