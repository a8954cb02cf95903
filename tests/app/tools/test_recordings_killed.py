"""Transcription interrupted by a kill is paid again only if its answer was lost."""

import asyncio
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest

from hob.core.events.timeline import TimelineEvent
from hob.core.ids import TurnId
from hob.core.models import ModelRequest
from hob.core.steps import Step, Transcribed
from hob.store.turns.journal import StoredJournal
from hob.testing.model_server import ModelServer
from tests.app.tools.test_recordings import SAID, speak, told
from tests.app.visiting import ME, Visited, until, visited


def listening(home: Path, url: str) -> AbstractAsyncContextManager[Visited]:
    """A Hob whose speech and vision models are on this server."""
    return visited(home, HOB_MODEL_BASE_URL=url, HOB_MODEL_TRANSCRIPTION="server/whisper")


async def heard_until_killed(home: Path, url: str, *, stored: bool) -> None:
    """Accept a voice message and die during transcription, before or after the step is stored."""
    append = StoredJournal.append

    async def die(
        journal: StoredJournal,
        turn: TurnId,
        steps: Sequence[Step],
        events: Sequence[TimelineEvent] = (),
        request: ModelRequest | None = None,
    ) -> None:
        dying = any(isinstance(step, Transcribed) for step in steps)
        if stored or not dying:
            await append(journal, turn, steps, events, request)
        if dying:
            os.kill(os.getpid(), signal.SIGKILL)

    StoredJournal.append = die  # type: ignore[method-assign]
    async with listening(home, url) as hob:
        await hob.knows()
        await speak(hob)


@pytest.mark.slow
@pytest.mark.parametrize(("stored", "paid"), [(False, 2), (True, 1)])
async def test_transcription_is_paid_again_only_if_a_kill_lost_its_answer(
    tmp_path: Path, stored: bool, paid: int
) -> None:
    async with ModelServer() as server:
        begin = f"asyncio.run(heard_until_killed(pathlib.Path({str(tmp_path)!r}), {server.url!r}, stored={stored}))"
        code = f"import asyncio, pathlib; from {__name__} import heard_until_killed; {begin}"
        root = str(Path(__file__).parents[3])
        process = await asyncio.create_subprocess_exec(sys.executable, "-c", code, cwd=root)
        assert await process.wait() == -signal.SIGKILL
        async with listening(tmp_path, server.url) as hob:
            await until(lambda: hob.sent(ME) == ["Yes."])
            assert told(hob).endswith(f"[spoken] {SAID}")
            (turn,) = {each.turn for each in hob.channels["telegram"].sent if each.turn is not None}
            steps = await hob.app.store.journal.load_steps(turn)
            assert [step.text for step in steps if isinstance(step, Transcribed)] == [SAID]
    assert len([each for each in server.requests if each.path.endswith("/audio/transcriptions")]) == paid
