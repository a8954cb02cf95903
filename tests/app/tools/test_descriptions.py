"""The tool `image` in a complete Hob: a long description ends at 1,000 tokens."""

from pathlib import Path

from hob.core.models import ToolMessage
from hob.testing.model import calls
from hob.testing.model_server import ModelServer, Reply
from tests.app.visiting import ME, until, visited

PNG = b"\x89PNG\r\n\x1a\n" + bytes(16)


async def test_long_description_ends_at_its_limit(tmp_path: Path) -> None:
    described = "A cat on a mat. " * 600
    script = (calls(("load_tools", '{"names": ["image"]}')), calls(("image", '{"path": "cat.png"}')), "A cat.")
    (tmp_path / "workspace" / "work").mkdir(parents=True)
    (tmp_path / "workspace" / "work" / "cat.png").write_bytes(PNG)
    async with (
        ModelServer(otherwise=Reply(described)) as server,
        visited(tmp_path, *script, HOB_MODEL_BASE_URL=server.url, HOB_MODEL_VISION="server/fake-1") as hob,
    ):
        await hob.knows()
        await hob.comes("what is on cat.png?", ME)
        await until(lambda: hob.sent(ME) == ["A cat."])
        result = hob.model.requests[-1].messages[-1]
        assert isinstance(result, ToolMessage)
        assert "A cat on a mat." in result.text
        assert "A cat on …\n" in result.text
        assert 3_900 < len(result.text) <= 4_200  # characters, four to a token
