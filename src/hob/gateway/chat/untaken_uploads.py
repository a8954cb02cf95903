"""Uploaded files that no message uses yet, with their senders and limits.

They are rows in the database, so they survive restarts.
"""

import json
from collections.abc import Iterator, Mapping

from hob.core.ids import BlobId
from hob.core.messages import Inbound, Sender
from hob.core.trust.labels import SenderClass
from hob.core.values import dataclass
from hob.gateway.auth.callers import ApiCaller
from hob.gateway.chat.inbound import sender_of
from hob.gateway.http.failures import HttpRefusal
from hob.store.store import Store

MAX_FILES, MAX_BYTES = 20, 100_000_000
"""Limits per sender other than the owner."""

_STATE = ("api", "uploads")
_HOUR = 3_600


@dataclass(frozen=True, slots=True)
class _Upload:
    blob: BlobId
    sender: str
    size: int
    at: float


async def note(store: Store, caller: ApiCaller, blob: BlobId, size: int, at: float) -> None:
    """Record an upload. Raises HttpRefusal if the caller has too many, and StoreErrors."""
    sender = sender_of(caller)
    key = _key(blob, sender)
    # recorded before it is counted, so that concurrent uploads cannot pass the limit
    await store.channel_state.put(*_STATE, {key: json.dumps([size, at])})
    if caller.cls is SenderClass.OWNER:
        return
    own = [each for each in _read(await store.channel_state.get(*_STATE)) if each.sender == sender.id]
    if len(own) > MAX_FILES or sum(each.size for each in own) > MAX_BYTES:
        await store.channel_state.put(*_STATE, {key: ""})
        maximum = f"{MAX_FILES} files and {MAX_BYTES // 1_000_000} MB"
        raise HttpRefusal(
            "too_many_files", f"send a message with what you handed in: {maximum} may wait for one", _HOUR
        )


async def note_taken(store: Store, inbound: Inbound) -> None:
    """Remove the files of an accepted message from the uploads. Raises StoreErrors."""
    taken = {_key(file.blob, inbound.sender): "" for file in inbound.attachments if file.blob is not None}
    if taken:
        await store.channel_state.put(*_STATE, taken)


async def drop_untaken(store: Store, before: float) -> int:
    """Delete uploads from before this time that nothing uses. Return their number. Raises StoreErrors."""
    found = tuple(_read(await store.channel_state.get(*_STATE)))
    old = {each.blob for each in found if each.at < before} - {each.blob for each in found if each.at >= before}
    dropped = await store.retention.drop_unnamed(old, before)
    await store.channel_state.put(*_STATE, {f"{each.blob} {each.sender}": "" for each in found if each.at < before})
    return dropped


def _key(blob: BlobId, sender: Sender) -> str:
    return f"{blob} {sender.id}"


def _read(state: Mapping[str, str]) -> Iterator[_Upload]:
    for key, value in state.items():
        blob, _, sender = key.partition(" ")
        size, at = json.loads(value)
        yield _Upload(BlobId(blob), sender, size, at)
