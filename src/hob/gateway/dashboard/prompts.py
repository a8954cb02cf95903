"""The prompt of one model call, section by section."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import TypedDict

from hob.agent.prompt.section_texts import SectionPiece, section_texts
from hob.core.errors import NotFound
from hob.core.ids import TurnId
from hob.core.steps import ModelAsked
from hob.core.translation.language import translatable
from hob.core.values import dataclass
from hob.gateway.http.endpoint import EndpointCall
from hob.gateway.http.fields import field
from hob.gateway.http.reply import JsonResponse, etagged


class PieceAnswer(TypedDict):
    """A piece of a prompt section.

    role: `system`, `user`, `assistant` or `tool`
    name: the tool that was called or that answered; else empty
    untrusted: the source of untrusted text; empty for text that is not marked
    """

    role: str
    text: str
    name: str
    untrusted: str


class SectionTextAnswer(TypedDict):
    """A section of a request, as the model received it."""

    name: str
    bytes: int
    tokens: int
    cached: bool
    pieces: list[PieceAnswer]


class PromptTextAnswer(TypedDict):
    """The request of a model call.

    kept: whether its text is still stored; otherwise sections have no text
    erased: when the text was erased, if known
    """

    turn: str
    step: int
    sections: list[SectionTextAnswer]
    kept: bool
    erased: float | None


@dataclass(frozen=True, slots=True)
class PromptStepQuery:
    """Selects a request of the turn."""

    step: int = field("the number of the step, as a trace's `metadata` has it", at_least=0)


async def prompt_text(call: EndpointCall[PromptStepQuery]) -> JsonResponse[PromptTextAnswer]:
    """Return the sections of the request that the model received in a step of this turn."""
    store, turn, n = call.api.store, TurnId(call.id), call.payload.step
    asked, requests, erased = await asyncio.gather(
        store.journal.step(turn, n), store.requests.load(turn, n), store.journal.erased((turn,))
    )
    request = requests.get(n)
    if not isinstance(asked, ModelAsked):
        if erased is None:
            raise NotFound(translatable("the turn has no such step, or no model was asked in it"))
        return etagged(call.request, {"turn": turn, "step": n, "sections": [], "kept": False, "erased": erased})
    texts: Mapping[str, Sequence[SectionPiece]] = {} if request is None else section_texts(asked, request)
    sections: list[SectionTextAnswer] = [
        {
            "name": name,
            "bytes": size,
            "tokens": tokens,
            "cached": cached,
            "pieces": [
                {"role": each.role, "text": each.text, "name": each.name, "untrusted": each.untrusted}
                for each in texts.get(name, ())
            ],
        }
        for name, size, tokens, cached in asked.sections
    ]
    if request is None:
        erased = await store.requests.gone(turn)
    told: PromptTextAnswer = {
        "turn": turn, "step": n, "sections": sections, "kept": request is not None, "erased": erased,
    }  # fmt: skip
    return etagged(call.request, told)
