"""The folder where tools work, changed while Hob runs."""

from pathlib import Path

from hob.core.states import TurnState
from hob.testing.model import calls
from tests.gateway.conftest import Machine, machine


async def put(hob: Machine, value: str | None) -> tuple[int, str]:
    answer = await hob.unix.post("/settings", json={"values": {"workspace.work_repo": value}})
    return answer.status_code, answer.text


async def test_changed_work_repo_applies_from_the_next_call(tmp_path: Path) -> None:
    write = ("write", '{"path": "here.txt", "content": "x"}')
    other = tmp_path / "other" / "deep"
    async with machine(tmp_path / "home", calls(write), "One.", calls(write), "Two.", calls(write), "Three.",
                       HOB_WORKSPACE_PATH=str(tmp_path / "workspace")) as hob:  # fmt: skip
        for expected, value in ((tmp_path / "workspace" / "work", ""), (other, str(other)), (None, None)):
            if value != "":
                assert (await put(hob, value))[0] == 200
            (expected or tmp_path / "workspace" / "work").joinpath("here.txt").unlink(missing_ok=True)
            told = (await hob.unix.post("/chat", json={"message": "write it"})).json()
            assert told["state"] == TurnState.DONE, told
            assert (expected or tmp_path / "workspace" / "work").joinpath("here.txt").read_text() == "x"
        assert not (await hob.unix.get("/status")).json()["settings"]["waiting"]


async def test_forbidden_work_repo_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    async with machine(tmp_path / "home", HOB_WORKSPACE_PATH=str(tmp_path / "workspace")) as hob:
        for folder, why in (
            (str(tmp_path / "home" / "x"), "Hob's own state"),
            ("relative", "Hob's own state"),
            (str(tmp_path / "file" / "x"), "is not a folder"),
        ):
            status, text = await put(hob, folder)
            assert (status, why in text) == (400, True), text
        rows = (await hob.unix.get("/settings")).json()["settings"]
        assert next(row for row in rows if row["key"] == "workspace.work_repo")["layer"] != "stored"
