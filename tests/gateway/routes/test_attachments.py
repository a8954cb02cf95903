"""POST /attachments and the files of a message."""

import asyncio
from pathlib import Path

import pytest

from hob.core.errors import NotFound
from hob.core.ids import BlobId, CallId, TurnId
from hob.core.models import UserMessage
from hob.core.trust.labels import SenderClass
from hob.core.undo import FileChange, FileVersion
from hob.gateway.auth.callers import TokenScope
from hob.gateway.chat.untaken_uploads import MAX_FILES, drop_untaken
from tests.gateway.auth.test_tokens import caller
from tests.gateway.conftest import Machine, machine

PNG = b"\x89PNG\r\n\x1a\n" + bytes(40)


async def test_uploaded_image_is_part_of_the_message(hob: Machine) -> None:
    kept = (await hob.tcp.post("/attachments", content=PNG)).json()
    assert (kept["media_type"], kept["size"]) == ("image/png", len(PNG))
    body = {"message": "what is it?", "attachments": [{"id": kept["id"], "name": "cat.png"}]}
    assert (await hob.tcp.post("/chat", json=body)).status_code == 200
    said = [message for message in hob.model.requests[-1].messages if isinstance(message, UserMessage)]
    pictured = [message for message in said if message.images]
    assert [(image.blob, image.media_type) for message in pictured for image in message.images] == [
        (kept["id"], "image/png")
    ]
    assert any("cat.png" in message.text for message in pictured)


async def test_media_type_is_detected_from_the_bytes(hob: Machine) -> None:
    id = (await hob.tcp.post("/attachments", content=b"\x7fELF" + bytes(40))).json()["id"]
    sent = await hob.tcp.post("/chat", json={"message": "look", "attachments": [{"id": id, "name": "cat.png"}]})
    assert sent.status_code == 200
    assert "its kind is not taken" in "".join(message.text for message in hob.model.requests[-1].messages)


@pytest.mark.parametrize(
    ("files", "complaint"),
    [
        ([{"id": "0" * 64}], "was handed in"),
        ([{"id": "../../config.toml"}], "was handed in"),
        ([{"name": "cat.png"}], "attachments[0].id is missing"),
        ([{"id": "x", "blob": "y"}], "unknown field 'blob'"),
        ([{"id": "x", "name": "a\nb"}], "printable"),
        ("cat.png", "attachments must be a list"),
    ],
)
async def test_unknown_file_is_refused(hob: Machine, files: object, complaint: str) -> None:
    response = await hob.tcp.post("/chat", json={"message": "hi", "attachments": files})
    assert response.status_code == 400
    assert complaint in response.json()["error"]["message"]


async def test_empty_upload_is_refused(hob: Machine) -> None:
    assert (await hob.tcp.post("/attachments", content=b"")).status_code == 400


def file(number: int) -> bytes:
    return b"a file of text, number %d" % number


async def test_pending_uploads_are_limited_for_others_than_the_owner(hob: Machine) -> None:
    async with caller(hob, TokenScope.CHAT, cls=SenderClass.MEMBER) as anna:
        answers = await asyncio.gather(*(anna.post("/attachments", content=file(n)) for n in range(2 * MAX_FILES)))
        refused = [each for each in answers if each.status_code == 429]
        assert len(refused) >= MAX_FILES
        assert {each.json()["error"]["code"] for each in refused} == {"too_many_files"}
        taken = [await anna.post("/attachments", content=file(n)) for n in range(MAX_FILES)]
        assert (await anna.post("/attachments", content=file(0))).status_code == 200  # it waits already
        assert (await anna.post("/attachments", content=b"another")).status_code == 429
        files = [{"id": taken[0].json()["id"]}]
        elsewhere = {"message": "look", "attachments": files, "session": "local:main"}
        assert (await anna.post("/chat", json=elsewhere)).status_code == 403  # not accepted, so not taken
        assert (await anna.post("/attachments", content=b"another")).status_code == 429
        assert (await anna.post("/chat", json={"message": "look", "attachments": files})).status_code == 200
        assert (await anna.post("/attachments", content=b"another")).status_code == 200
    for n in range(MAX_FILES + 5):
        assert (await hob.tcp.post("/attachments", content=file(n))).status_code == 200


async def test_large_files_count_by_their_size(hob: Machine) -> None:
    async with caller(hob, TokenScope.CHAT, cls=SenderClass.STRANGER) as eve:
        statuses = [(await eve.post("/attachments", content=bytes([n]) * 24_000_000)).status_code for n in range(5)]
    assert statuses == [200, 200, 200, 200, 429]


async def test_attachment_without_a_message_is_removed_also_after_a_restart(tmp_path: Path) -> None:
    async with machine(tmp_path) as hob:
        ids = [(await hob.tcp.post("/attachments", content=file(n))).json()["id"] for n in range(3)]
        unused, used, kept = map(BlobId, ids)
        assert (await hob.tcp.post("/chat", json={"message": "look", "attachments": [{"id": used}]})).status_code == 200
    async with machine(tmp_path) as hob:
        store, now = hob.app.store, hob.app.api.clock.now().timestamp()
        assert await drop_untaken(store, now - 60) == 0
        assert await store.blobs.load(unused)
        turn = TurnId("t_1")
        change = FileChange("1", turn, CallId("c"), "/a", FileVersion(kept, 0o644, kept), None)
        await store.file_changes.add([change])  # undoing needs it
        assert await drop_untaken(store, now + 60) == 1
        for blob in (used, kept):
            assert await store.blobs.load(blob)
        with pytest.raises(NotFound):
            await store.blobs.load(unused)
        assert await drop_untaken(store, now + 60) == 0  # it was looked at
