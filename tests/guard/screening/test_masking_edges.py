"""Known secrets do not reach messages, answers, blobs, live output or logs."""

import logging
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from hob.core.clock import SystemClock
from hob.core.errors import HobError, ModelError, ModelFault
from hob.core.messages import Attachment, Inbound, Quoted
from hob.core.models import AssistantMessage, Continuation, ModelEvent, ModelReply, ModelRequest, TextDelta, UserMessage
from hob.core.ports.guard import Admitted, Refused
from hob.core.ports.model import RoutesRequests
from hob.core.trust.labels import SenderClass
from hob.guard.screening.masking.known_secrets import KnownSecrets
from hob.guard.screening.masking.logs import masked_logs
from hob.guard.screening.masking.mask import MASKED
from hob.guard.screening.masking.masked_ports import MaskedAdmission, MaskedBlobs
from hob.guard.screening.masking.models import masked_model
from hob.testing.channel import message
from hob.testing.clock import ManualClock
from hob.testing.memory_store import memory_store
from hob.testing.model import Cut, Line, ScriptedModel, calls
from hob.tools.exec.command_text import CommandOutputStream
from tests.guard.canaries import CANARY

KNOWN = KnownSecrets({"key": CANARY})
REQUEST = ModelRequest("m", f"system {CANARY}", (UserMessage(f"it is {CANARY}"), AssistantMessage("", calls=())))


async def answered(line: Line, inner: ScriptedModel | None = None) -> tuple[str, ModelReply]:
    """Return the streamed text of an answer, and the answer."""
    model = masked_model(inner or ScriptedModel(line), KNOWN)
    events = [event async for event in model.stream(REQUEST)]
    assert isinstance(events[-1], ModelReply)
    return "".join(event.text for event in events if isinstance(event, TextDelta)), events[-1]


async def test_answer_is_shown_and_stored_without_the_secret() -> None:
    shown, reply = await answered(f"the key is {CANARY}, as you know")
    assert shown == reply.text == f"the key is {MASKED}, as you know"


@pytest.mark.parametrize("size", [1, 2, 3, 7, 23])
async def test_secret_split_into_pieces_is_masked_without_other_loss(size: int) -> None:
    class Pieces(ScriptedModel):
        async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
            text = f"a {CANARY} and {CANARY[:5]}"
            for at in range(0, len(text), size):
                yield TextDelta(text[at : at + size])
            yield ModelReply(text)

    shown, reply = await answered("", Pieces())
    assert shown == reply.text == f"a {MASKED} and {CANARY[:5]}"


async def test_call_arguments_are_masked_and_sealed_data_is_not_altered() -> None:
    asked = calls(("exec", f'{{"command": "echo {CANARY[:11]}"}}'), ("exec", f'{{"x": "{CANARY[:20]}"}}'))
    known = KnownSecrets({"k": CANARY[:20]})
    model = masked_model(ScriptedModel(replace(asked, continuation=Continuation("w", f'"{CANARY[:20]}"'))), known)
    reply = [event async for event in model.stream(REQUEST)][-1]
    assert isinstance(reply, ModelReply)
    assert [call.arguments for call in reply.calls] == [asked.calls[0].arguments, f'{{"x": "{MASKED}"}}']
    assert reply.continuation is None


async def test_model_is_sent_no_secret() -> None:
    inner = ScriptedModel("fine")
    await answered("", inner)
    assert CANARY not in str(inner.requests)
    assert MASKED in inner.requests[0].system


async def test_secret_that_a_provider_quotes_in_an_error_is_masked() -> None:
    failing = masked_model(ScriptedModel(Cut("one", ModelError(ModelFault.AUTH, f"no such key: {CANARY}"))), KNOWN)
    with pytest.raises(ModelError, match=r"no such key: .secret removed") as caught:
        [event async for event in failing.stream(REQUEST)]
    assert (caught.value.fault, isinstance(failing, RoutesRequests)) == (ModelFault.AUTH, False)


class Gate:
    """Implements `Admission`: whoever says the secret is admitted."""

    def admit(self, inbound: Inbound) -> Admitted | Refused:
        return Admitted(replace(inbound.sender, cls=SenderClass.MEMBER)) if CANARY in inbound.text else Refused("no")


def test_admission_sees_a_passphrase_and_nothing_after_it_does() -> None:
    door = MaskedAdmission(Gate(), KNOWN)
    files = (Attachment("text/plain", name=CANARY),)
    admitted = door.admit(replace(message(CANARY), quoted=(Quoted(f"> {CANARY}"),), attachments=files))
    assert isinstance(admitted, Admitted)
    assert admitted.inbound is not None
    assert CANARY not in repr(admitted)
    assert admitted.inbound.sender.cls is SenderClass.MEMBER
    assert isinstance(door.admit(message("hello")), Refused)


async def test_text_blobs_are_masked_and_other_files_unchanged() -> None:
    async with memory_store() as store:
        blobs = MaskedBlobs(store.blobs, KNOWN)
        for kind, kept in (("text/plain", f"\udcff {MASKED}"), ("application/octet-stream", f"\udcff {CANARY}")):
            data = f"\udcff {CANARY}".encode("utf-8", "surrogateescape")
            assert await blobs.load(await blobs.put(data, kind)) == kept.encode("utf-8", "surrogateescape")


async def test_live_output_contains_no_secret_however_it_is_split() -> None:
    clock, seen = ManualClock(), list[str]()
    live = CommandOutputStream(seen.append, clock, KNOWN.stream())
    for sign in f"key: {CANARY}\n$ c":
        live.feed(sign.encode())
        await clock.advance(1)
    live.end()
    assert "".join(seen) == f"key: {MASKED}\n$ c"


def test_excess_output_is_cut_at_a_line_so_no_partial_secret_is_shown() -> None:
    seen = list[str]()
    live = CommandOutputStream(seen.append, SystemClock(), KNOWN.stream())
    live.feed(f"{'x' * 9000}{CANARY}{'y' * 1990}\nthe end\n".encode())
    live.end()
    assert "".join(seen) == "the end\n"


def test_logs_contain_neither_secrets_nor_personal_data(caplog: pytest.LogCaptureFixture) -> None:
    log = logging.getLogger("hob.test")
    with masked_logs(KNOWN):
        try:
            raise HobError(f"{CANARY} of ada@example.org")
        except HobError:
            log.exception("failed for %s", CANARY)
    assert CANARY not in caplog.text
    assert "ada@example.org" not in caplog.text
    log.warning("afterwards %s", CANARY)
    assert CANARY in caplog.text
