"""Baseline: a minimal HTTP server on asyncio that answers at once and keeps nothing."""

import asyncio
import sys

_BODY = b'{"id":"1","session":"main","trace_id":"1","state":"done","reply":"You said: hi","usage":{}}'
_ANSWER = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%s" % (len(_BODY), _BODY)


async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Read requests and answer each until the client disconnects."""
    try:
        while head := await reader.readuntil(b"\r\n\r\n"):
            lines = head.lower().split(b"\r\n")
            length = next((line[15:] for line in lines if line.startswith(b"content-length:")), b"0")
            await reader.readexactly(int(length))
            writer.write(_ANSWER)
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        writer.close()


async def serve() -> None:
    """Serve until killed; the first line on standard output is the URL."""
    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    sys.stdout.write(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(serve())
