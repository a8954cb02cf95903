"""Transcribe recordings of a turn's messages before the model is asked; each is a step, so none is paid for twice.

A voice message is as trusted as its sender; any other audio file is untrusted like other files.
"""

from hob.agent.turn.entries import FILE_LABEL
from hob.agent.turn.run_state import TurnRun
from hob.core.errors import ModelError, ModelFault, NotFound
from hob.core.messages import Attachment, Inbound
from hob.core.steps import Transcribed
from hob.core.trust.labels import HOB_LABEL

_LARGEST_RECORDING = 25_000_000
"""Bytes; the limit of the usual services."""


async def write_down(run: TurnRun) -> None:
    """Transcribe each recording without a transcript. Raises StoreErrors; other failures are reported to the model."""
    done = {(step.inbound, step.blob) for step in run.record.steps if isinstance(step, Transcribed)}
    for inbound in (*run.turn.inbounds, *run.joined):
        for file in inbound.attachments:
            if is_recording(file) and (inbound.id, file.blob) not in done:
                step = await _written_down(run, inbound, file)
                if step is not None:
                    run.record.add(step)
                    await run.record.flush()


def is_recording(file: Attachment) -> bool:
    """Whether the file may contain speech."""
    return file.blob is not None and (file.voice or file.media_type.startswith("audio/"))


async def _written_down(run: TurnRun, inbound: Inbound, file: Attachment) -> Transcribed | None:
    transcribe, blob = run.parts.transcribe, file.blob
    if transcribe is None or blob is None:
        return None
    fault = ModelFault.CONTEXT_OVERFLOW.value
    if file.size <= _LARGEST_RECORDING:
        try:
            audio = await run.parts.blobs.load(blob)
            made = await transcribe(audio, file.media_type, run.turn.session, inbound.sender.cls)
        except ModelError as error:
            fault = error.fault.value
        except NotFound:
            fault = "erased"
        else:
            label = inbound.label if file.voice else FILE_LABEL
            return Transcribed(inbound.id, blob, run.parts.mask(made.text.strip()), label, made.model)
    return Transcribed(inbound.id, blob, "", HOB_LABEL, problem=fault)
