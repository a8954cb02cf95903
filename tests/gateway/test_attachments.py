"""POST /attachments and the files of a message."""

import pytest

from hob.core.models import UserMessage
from tests.gateway.conftest import Machine

PNG = b"\x89PNG\r\n\x1a\n" + bytes(40)


async def test_a_picture_that_was_handed_in_comes_with_the_message(hob: Machine) -> None:
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


async def test_what_a_file_is_its_bytes_tell_and_not_its_sender(hob: Machine) -> None:
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
async def test_a_file_that_is_none_is_refused(hob: Machine, files: object, complaint: str) -> None:
    response = await hob.tcp.post("/chat", json={"message": "hi", "attachments": files})
    assert response.status_code == 400
    assert complaint in response.json()["error"]["message"]


async def test_no_bytes_are_no_file(hob: Machine) -> None:
    assert (await hob.tcp.post("/attachments", content=b"")).status_code == 400
