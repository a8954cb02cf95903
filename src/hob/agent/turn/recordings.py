"""Transcription of recordings before the model is called; each is a step, so none is paid for twice.

A voice message is as trusted as its sender; any other audio file is untrusted like other files.
"""

from hob.agent.turn.entries import FILE_LABEL
from hob.agent.turn.run_state import TurnRun
from hob.core.errors import ModelError, ModelFault, NotFound
from hob.core.messages import Attachment, Inbound
from hob.core.steps import Transcribed
from hob.core.trust.labels import HOB_LABEL

_MAX_RECORDING_BYTES = 25_000_000
"""Bytes; the usual services accept no more."""


async def transcribe_recordings(run: TurnRun) -> None:
    """Transcribe each recording without a transcript. Raises StoreErrors; other failures are reported to the model."""
    done = {(step.inbound, step.blob) for step in run.record.steps if isinstance(step, Transcribed)}
    for inbound in (*run.turn.inbounds, *run.joined):
        for file in inbound.attachments:
            if is_recording(file) and (inbound.id, file.blob) not in done:
                step = await _transcribe(run, inbound, file)
                if step is not None:
                    run.record.add(step)
                    await run.record.flush()


def is_recording(file: Attachment) -> bool:
    """Whether the file may contain speech."""
    return file.blob is not None and (file.voice or file.media_type.startswith("audio/"))


async def _transcribe(run: TurnRun, inbound: Inbound, file: Attachment) -> Transcribed | None:
    transcribe, blob = run.deps.transcribe, file.blob
    if transcribe is None or blob is None:
        return None
    fault = ModelFault.CONTEXT_OVERFLOW.value
    if file.size <= _MAX_RECORDING_BYTES:
        try:
            audio = await run.deps.blobs.load(blob)
            made = await transcribe(audio, file.media_type, run.turn.session, inbound.sender.cls)
        except ModelError as error:
            fault = error.fault.value
        except NotFound:
            fault = "erased"
        else:
            label = inbound.label if file.voice else FILE_LABEL
            return Transcribed(inbound.id, blob, run.deps.mask(made.text.strip()), label, made.model)
    return Transcribed(inbound.id, blob, "", HOB_LABEL, problem=fault)
