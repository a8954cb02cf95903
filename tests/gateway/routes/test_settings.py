"""Settings that are changed while Hob runs: checked, kept, noted, and obeyed at once."""

from typing import Any

from tests.gateway.conftest import Machine
from tests.gateway.dashboard.test_dashboard import signed_in

PATH = "/api/v1/settings"


def rows(answer: Any) -> dict[str, Any]:
    return {each["key"]: each for each in answer.json()["settings"]}


async def test_change_is_stored_audited_and_outranks_the_file(hob: Machine) -> None:
    async with signed_in(hob) as page:
        answer = await page.patch(PATH, json={"values": {"spending.daily": 2.5}})
        assert answer.status_code == 200
        row = rows(answer)["spending.daily"]
        assert (row["value"], row["layer"]) == (2.5, "stored")
        assert await hob.app.store.settings.load() == {"spending.daily": "2.5"}
        assert hob.app.services.reloading.waiting() == []
        entries = (await page.get("/api/v1/audit?kind=setting")).json()["entries"]
        assert [(each["name"], each["outcome"]) for each in entries] == [("spending.daily", "set")]
        back = await page.patch(PATH, json={"values": {"spending.daily": None}})
        assert (rows(back)["spending.daily"]["value"], rows(back)["spending.daily"]["layer"]) == (None, "default")
        assert await hob.app.store.settings.load() == {}


async def test_invalid_values_change_nothing(hob: Machine) -> None:
    async with signed_in(hob) as page:
        for values in (
            {"spending.daily": -1},
            {"spending.daily": "much"},
            {"gateway.port": 1},
            {"no.such": 1},
            {"spending.daily": 3, "spending.monthly": "x"},
            {"spending.daily": [1]},
            {},
        ):
            answer = await page.patch(PATH, json={"values": values})
            assert (answer.status_code, answer.json()["code"]) == (400, "invalid_request"), values
        assert await hob.app.store.settings.load() == {}


async def test_daily_token_limit_applies_at_once(hob: Machine) -> None:
    async with signed_in(hob) as page:
        await page.patch(PATH, json={"values": {"spending.daily_tokens": 0}})
        refused = (await hob.tcp.post("/chat", json={"message": "hi"})).json()
        assert refused["error"]["code"] == "budget"
        assert "spending.daily_tokens" in refused["error"]["message"]


async def test_changed_expiry_applies_to_questions(hob: Machine) -> None:
    ledger = hob.app.api.pending_approvals()._ledger  # type: ignore[attr-defined]
    async with signed_in(hob) as page:
        await page.patch(PATH, json={"values": {"approvals.seconds": 60}})
    assert ledger._settings.seconds == 60


async def test_command_line_changes_the_hob_that_runs(hob: Machine) -> None:
    answer = await hob.unix.post("/settings", json={"values": {"model.name": "other"}})
    assert rows(answer)["model.name"]["value"] == "other"
    assert (await hob.tcp.post("/settings", json={"values": {"model.name": "x"}})).status_code == 404
