"""A socket listening inside a sandbox's network, created from outside.

A socket permanently belongs to the network namespace it was created in, regardless of its holder. So a short-lived
process enters the namespace of a sandbox that has not started yet, listens on its loopback, passes the socket to Hob
and exits. No part of Hob runs in the sandbox, no file is shared with it, and it can reach only one port.
"""

import array
import asyncio
import ctypes
import os
import socket
import sys
from contextlib import suppress
from pathlib import Path

import hob
from hob.core.errors import ToolFailed

PORT = 3128
_NS_GET_USERNS = 0xB701  # https://man7.org/linux/man-pages/man2/ioctl_ns.2.html
_SECONDS = 10.0
_STARTED = "import sys; sys.path.insert(0, sys.argv.pop(1)); from hob.tools.sandbox.network.bridge import main; main()"


async def listen_inside(pid: int) -> socket.socket:
    """Return a socket listening on 127.0.0.1:3128 in the network of this process. Raises ToolFailed."""
    ours, theirs = socket.socketpair()
    try:
        with theirs:
            process = await asyncio.create_subprocess_exec(
                *isolated_python(_STARTED),
                str(pid),
                str(theirs.fileno()),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.DEVNULL,
                stderr=asyncio.subprocess.PIPE,
                env={},
                pass_fds=(theirs.fileno(),),
            )
        try:
            async with asyncio.timeout(_SECONDS):
                _, complaint = await process.communicate()
        except BaseException:
            with suppress(ProcessLookupError):
                process.kill()
            raise
        if process.returncode != 0:
            last = complaint.decode(errors="replace").strip().rpartition("\n")[2]
            raise ToolFailed(f"The sandbox's network cannot be opened: {last}")
        _, fds, _, _ = socket.recv_fds(ours, 1, 1)
        return socket.socket(fileno=fds[0])
    except TimeoutError as error:
        raise ToolFailed("The sandbox's network cannot be opened: it takes too long.") from error
    finally:
        ours.close()


def isolated_python(code: str) -> tuple[str, ...]:
    """Return the command of a Python that runs this code with Hob's modules only: no site, no variables, 15 ms."""
    return (sys.executable, "-I", "-S", "-c", code, str(Path(hob.__file__).resolve().parents[1]))


def main() -> None:
    """Enter the namespace of `PID` and send the listening socket to `FD`."""
    pid, back = sys.argv[1:]
    network = os.open(f"/proc/{pid}/ns/net", os.O_RDONLY | os.O_CLOEXEC)
    libc = ctypes.CDLL(None, use_errno=True)
    owner = libc.ioctl(network, _NS_GET_USERNS)  # the user namespace that owns the network
    for namespace in (owner, network):
        if namespace < 0 or libc.setns(namespace, 0) != 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_IP, 15, 1)  # IP_FREEBIND: the loopback may not be up yet
    listening.bind(("127.0.0.1", PORT))
    listening.listen(64)
    with socket.socket(fileno=int(back)) as answer:
        rights = array.array("i", [listening.fileno()])
        answer.sendmsg([b"\0"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, rights)])
