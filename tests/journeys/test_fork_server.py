"""The fork server of the tests leaves nothing open: what it left would be told of in whatever test runs next."""

import asyncio
import os
import subprocess

from .fork_server import fork_server


def descriptors() -> set[str]:
    return set(os.listdir("/proc/self/fd"))  # noqa: PTH208 - with the one that lists them, each time the same


async def test_process_that_has_ended_leaves_nothing_open() -> None:
    server, pipe = fork_server(), subprocess.PIPE
    before = descriptors()
    for given in (b"said", b"said" * 100_000):
        for count in range(20):
            command = ["-m", "hob", "--version"] if count % 2 else ["-m", "hob", "no-command"]
            process = await server.start(command, os.environ, stdin=pipe, stdout=pipe, stderr=pipe)
            out, err = await process.communicate(given)
            assert (process.returncode == 0, bool(out), bool(err)) == (count % 2 == 1, count % 2 == 1, count % 2 == 0)
            assert descriptors() == before


async def test_start_that_is_given_up_leaves_nothing_open() -> None:
    server, pipe = fork_server(), subprocess.PIPE
    before = descriptors()
    for turns in range(8):
        start = server.start(["-m", "hob", "--version"], os.environ, stdin=pipe, stdout=pipe, stderr=pipe)
        async with asyncio.TaskGroup() as group:
            task = group.create_task(start)
            for _ in range(turns):
                await asyncio.sleep(0)
            task.cancel()
        for _ in range(3):  # transports close with the loop's next rounds
            await asyncio.sleep(0)
        if task.cancelled():
            assert descriptors() == before
