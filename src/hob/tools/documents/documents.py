"""Documents as text, by a process that may fail."""

import asyncio
import sys

from hob.core.errors import ToolFailed
from hob.core.libraries import install_command
from hob.tools.documents.document_text import MISSING, SECONDS
from hob.tools.documents.media_types import DOCUMENTS

_SAFELY = ("-I", "-m")  # isolated: neither the folder nor the environment of the caller decides what is imported


async def document_text(data: bytes, kind: str) -> str:
    """The text of a document of one of `DOCUMENTS`. Raises ToolFailed where there is none to be had."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, *_SAFELY, "hob.tools.documents.document_text"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={},
        cwd="/",
    )
    try:
        text, said = await process.communicate(data)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode == MISSING:
        raise ToolFailed(
            f"to read a {DOCUMENTS[kind]} document a library is missing; the owner can: {install_command('pypdf')}"
        )
    if process.returncode != 0:
        why = said.decode("utf-8", "replace")[-200:].strip() or f"gave up after {SECONDS} s or for want of memory"
        raise ToolFailed(f"this {DOCUMENTS[kind]} document cannot be read: {why}")
    return text.decode("utf-8", "replace")
