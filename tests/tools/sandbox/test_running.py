"""Commands run, say what they say, and end with all that they started."""

from hob.tools.sandbox import Reason
from tests.tools.sandbox.conftest import Place


async def test_a_command_gives_its_output_and_its_status(place: Place) -> None:
    finished = await place.run("sh", "-c", "echo out; echo err >&2; exit 3")
    assert (finished.reason, finished.status, finished.output) == (Reason.EXITED, 3, b"out\nerr\n")


async def test_a_signal_is_told(place: Place) -> None:
    finished = await place.run("sh", "-c", "kill -9 $$")
    assert finished.signal == 9
