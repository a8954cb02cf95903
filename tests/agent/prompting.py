"""Helpers for tests about prompts."""

from collections.abc import Sequence

from hob.agent.ports import PromptSection, TurnMemory
from hob.agent.prompt.builder import PromptBuilder
from hob.agent.settings import AgentSettings
from hob.core.content.files import BootstrapFile
from hob.core.ids import CallId, InboundId, SessionKey, SpanId, TraceId, TurnId
from hob.core.messages import Address, Inbound, Quoted, Sender
from hob.core.models import ModelRequest, TranscriptEntry
from hob.core.tools import ToolCall
from hob.core.trust.labels import OWNER_LABEL, Label, Origin, SenderClass, Trust
from hob.core.turns import Turn
from hob.testing.clock import ManualClock

WEB = Label(Origin.WEB, Trust.UNTRUSTED)
MODEL = Label(Origin.MODEL, Trust.TRUSTED)
TAINTED = Label(Origin.MODEL, Trust.UNTRUSTED)
MEMBER = Label(Origin.MEMBER, Trust.UNTRUSTED)
START = ManualClock().now().timestamp()


class Files:
    """Identity files given by the test."""

    def __init__(self, **texts: str) -> None:
        self.files = tuple(BootstrapFile(f"{name}.md", text, "") for name, text in texts.items())

    def load(self) -> tuple[BootstrapFile, ...]:
        return self.files


def builder(
    settings: AgentSettings | None = None,
    files: Files | None = None,
    *,
    clock: ManualClock | None = None,
    memory: TurnMemory | None = None,
    sections: Sequence[PromptSection] = (),
) -> PromptBuilder:
    settings, clock = settings or AgentSettings(), clock or ManualClock()
    return PromptBuilder(settings, clock, files or Files(), memory, b"salt", sections=sections)


def inbound(
    text: str,
    *,
    label: Label = OWNER_LABEL,
    cls: SenderClass = SenderClass.OWNER,
    quoted: tuple[str, ...] = (),
    group: bool = False,
) -> Inbound:
    parts = tuple(Quoted(part) for part in quoted)
    sender = Sender("s", "", cls)
    key = InboundId("m")
    return Inbound(key, "k", Address("local", "main"), sender, text, label, TraceId("x"), quoted=parts, group=group)


def turn(*inbounds: Inbound, id: str = "t_now", session: str = "local:main") -> Turn:
    return Turn(TurnId(id), SessionKey(session), TraceId("x"), SpanId("y"), inbounds)


def said(turn: str, question: str, answer: str, *, n: int = 1, at: float = START) -> tuple[TranscriptEntry, ...]:
    return (
        TranscriptEntry(n, "user", question, OWNER_LABEL, turn, at),
        TranscriptEntry(n + 1, "assistant", answer, MODEL, turn, at),
    )


def fetched(
    turn: str, question: str, result: str, answer: str, *, n: int = 1, at: float = START
) -> tuple[TranscriptEntry, ...]:
    """A turn that read something from the web and answered from it."""
    call = ToolCall(CallId("c1"), "fetch", '{"url":"https://example.org"}')
    return (
        TranscriptEntry(n, "user", question, OWNER_LABEL, turn, at),
        TranscriptEntry(n + 1, "assistant", "", MODEL, turn, at, calls=(call,)),
        TranscriptEntry(n + 2, "tool", result, WEB, turn, at, call=call.id),
        TranscriptEntry(n + 3, "assistant", answer, TAINTED, turn, at),
    )


def texts(request: ModelRequest) -> str:
    return "\n".join(message.text for message in request.messages)
