"""Views: status, tasks, timeline, prompt, export, retry, backup."""

import json
from pathlib import Path

import pytest

from hob.agent.prompt.section_aliases import SEED_SECTIONS
from hob.core.errors import ModelError, ModelFault
from tests.gateway.conftest import Machine, machine


async def test_tasks_show_open_ones_or_all(hob: Machine) -> None:
    sent = (await hob.tcp.post("/chat", json={"message": "buy tea"})).json()
    assert (await hob.tcp.get("/tasks")).json()["tasks"] == []
    [task] = (await hob.tcp.get("/tasks", params={"all": "1"})).json()["tasks"]
    assert (task["id"], task["state"], task["title"]) == (sent["id"], "done", "buy tea")


async def test_trace_holds_everything_that_belongs_to_a_message(hob: Machine) -> None:
    sent = (await hob.tcp.post("/chat", json={"message": "hi"})).json()
    events = (await hob.tcp.get("/timeline", params={"trace": sent["trace_id"]})).json()["events"]
    assert {event["kind"] for event in events} == {"inbound", "session", "model", "outbound", "turn"}
    spans = {event["span_id"] for event in events}
    parents = {event["parent_span_id"] for event in events} - {None}
    assert parents
    assert parents <= spans


async def test_prompt_is_shown_by_section(hob: Machine) -> None:
    await hob.tcp.post("/chat", json={"message": "hi"})
    seen = (await hob.tcp.get("/prompt", params={"session": "api:main"})).json()
    names = [section["name"] for section in seen["sections"]]
    assert "identity" in names
    assert "history" in names
    assert [section["seed"] for section in seen["sections"] if section["name"] in ("identity", "history", "tools")] == [
        "Identity", "", "Conversation",
    ]  # fmt: skip
    assert {section["seed"] for section in seen["sections"]} <= {*SEED_SECTIONS, ""}
    assert seen["bytes"] == sum(section["bytes"] for section in seen["sections"])


async def test_export_begins_with_its_metadata(hob: Machine) -> None:
    await hob.tcp.post("/chat", json={"message": "hi", "session": "tea"})
    lines = [json.loads(line) for line in (await hob.tcp.get("/export")).text.splitlines()]
    assert lines[0]["type"] == "hob-export"
    assert [line["role"] for line in lines[1:]] == ["user", "assistant"]


async def test_failed_message_is_retried_and_answered(tmp_path: Path) -> None:
    async with machine(tmp_path, ModelError(ModelFault.AUTH), "here I am") as hob:
        sent = (await hob.tcp.post("/chat", json={"message": "hi"})).json()
        response = await hob.tcp.post(f"/retry/{sent['id']}")
        assert response.status_code == 202
        again = (await hob.tcp.get(f"/chat/{sent['id']}", params={"wait": 10})).json()
        assert (again["state"], again["reply"]) == ("done", "here I am")


async def test_model_is_shown_a_retried_message_once(tmp_path: Path) -> None:
    async with machine(tmp_path, ModelError(ModelFault.AUTH), "here I am", "and again") as hob:
        sent = (await hob.tcp.post("/chat", json={"message": "only once"})).json()
        await hob.tcp.post(f"/retry/{sent['id']}")
        await hob.tcp.get(f"/chat/{sent['id']}", params={"wait": 10})
        await hob.tcp.post("/chat", json={"message": "next"})
        texts = "\n".join(message.text for message in hob.model.requests[-1].messages)
        assert texts.count("only once") == 1


async def test_retry_of_an_unknown_message_is_not_found(hob: Machine) -> None:
    assert (await hob.tcp.post("/retry/m_nothing")).status_code == 404


@pytest.mark.parametrize("limit", ["0", "1001", "many", "-1", "9" * 5000])
async def test_wrong_limit_is_refused(hob: Machine, limit: str) -> None:
    assert (await hob.tcp.get("/tasks", params={"limit": limit})).status_code == 400


async def test_backup_is_one_file(hob: Machine, tmp_path: Path) -> None:
    target = tmp_path / "copy.db"
    response = await hob.unix.post("/backup", json={"file": str(target)})
    assert response.json()["bytes"] == target.stat().st_size > 0


async def test_backup_needs_an_absolute_path(hob: Machine) -> None:
    assert (await hob.unix.post("/backup", json={"file": "copy.db"})).status_code == 400


async def test_status_names_the_model_and_counts(hob: Machine) -> None:
    seen = (await hob.tcp.get("/status")).json()
    assert seen["model"] == "scripted (from your settings)"
    assert (seen["running"], seen["waiting"], seen["store"]) == (0, 0, "ok")


async def test_setting_changed_at_run_time_holds_from_the_next_start(tmp_path: Path) -> None:
    async with machine(tmp_path, HOB_MODEL_NAME="") as hob:
        await hob.app.store.settings.change({"model.name": "chosen-later"})
    async with machine(tmp_path, HOB_MODEL_NAME="") as hob:
        await hob.tcp.post("/chat", json={"message": "hi"})
        assert hob.model.requests[0].model == "chosen-later"


async def test_unknown_session_cannot_be_exported(hob: Machine) -> None:
    response = await hob.tcp.get("/export", params={"session": "api:nothing"})
    assert (response.status_code, response.json()["error"]["code"]) == (404, "not_found")


async def test_backup_into_a_missing_folder_is_refused(hob: Machine, tmp_path: Path) -> None:
    response = await hob.unix.post("/backup", json={"file": str(tmp_path / "unmounted" / "copy.db")})
    assert response.status_code == 400
    assert not (tmp_path / "unmounted").exists()


async def test_health_reports_that_messages_are_no_longer_accepted(hob: Machine) -> None:
    await hob.app.bus.drain(0)
    response = await hob.tcp.get("/health")
    assert (response.status_code, response.json()["problem"]) == (503, "stopping")


async def test_usage_is_grouped_as_requested(tmp_path: Path) -> None:
    prices = "{ scripted = { input = 1000000.0, output = 0.0 } }"
    async with machine(tmp_path, HOB_MODEL_PRICES=prices, HOB_SPENDING_DAILY="1000000") as hob:
        await hob.tcp.post("/chat", json={"message": "hi"})
        seen = (await hob.tcp.get("/usage", params={"days": "7", "by": "session"})).json()
        assert [(row["key"], row["calls"]) for row in seen["rows"]] == [("api:main", 1)]
        (daily,) = seen["limits"]
        assert daily["left_usd"] == pytest.approx(daily["limit_usd"] - seen["total"]["cost_usd"])


@pytest.mark.parametrize("query", [{"days": "0"}, {"days": "4000"}, {"days": "x"}, {"by": "hour"}, {"by": ""}])
async def test_invalid_usage_query_is_refused(hob: Machine, query: dict[str, str]) -> None:
    assert (await hob.tcp.get("/usage", params=query)).status_code == 400
