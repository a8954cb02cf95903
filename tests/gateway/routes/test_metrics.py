"""Figures in Prometheus's format: off unless wanted, well formed, and without a word of anybody."""

import re
from pathlib import Path

import pytest

from hob.core.errors import ModelError, ModelFault
from hob.gateway.http.prometheus import Metric, exposition
from tests.gateway.conftest import Machine, machine

# https://prometheus.io/docs/instrumenting/exposition_formats/#comments-help-text-and-type-information
_LABEL = r'[a-zA-Z_]\w*="(?:[^"\\\n]|\\["\\n])*"'
SAMPLE = re.compile(rf"([a-zA-Z_:][\w:]*)(?:\{{{_LABEL}(?:,{_LABEL})*\}})? (-?\d+(?:\.\d+)?(?:e[+-]\d+)?)")
CANARY = "canary-61aa"


def values(text: str) -> dict[str, float]:
    """Every sample by its name with labels. Raises AssertionError for what is no sample."""
    found = {}
    for line in text.splitlines():
        if not line.startswith(("# HELP ", "# TYPE ")):
            assert SAMPLE.fullmatch(line), line
            name, _, value = line.rpartition(" ")
            assert name not in found
            found[name] = float(value)
    return found


async def test_metrics_are_off_by_default(hob: Machine) -> None:
    refused = await hob.tcp.get("/metrics")
    assert refused.status_code == 404
    assert "gateway.metrics" in refused.json()["error"]["message"]


async def test_metrics_include_turns_tokens_costs_failures_and_ages(tmp_path: Path) -> None:
    failure = ModelError(ModelFault.BILLING, "no money")
    async with machine(tmp_path, f"{CANARY} answers", failure, HOB_GATEWAY_METRICS="true") as hob:
        for _ in range(2):
            await hob.tcp.post("/chat", json={"message": f"{CANARY} asks", "wait": 20})
        answer = await hob.tcp.get("/metrics")
        assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
        found = values(answer.text)
        assert found['hob_turns_ended_total{state="done"}'] == 1
        assert found['hob_turn_failures_total{code="billing"}'] == 1
        assert any(name.startswith("hob_model_tokens_total") for name in found)
        for name in ("hob_lane_age_seconds", "hob_session_age_seconds", "hob_outbox_age_seconds", "hob_writer_queue"):
            assert found[name] >= 0
        assert CANARY not in answer.text
        assert (await hob.tcp.get("/metrics", headers={"authorization": "Bearer wrong"})).status_code == 401


async def test_counters_start_at_zero(tmp_path: Path) -> None:
    async with machine(tmp_path, HOB_GATEWAY_METRICS="true", HOB_MODEL_NAME="usual-1") as hob:
        found = values((await hob.tcp.get("/metrics")).text)
        assert [found[f'hob_turns_ended_total{{state="{state}"}}'] for state in ("done", "failed", "set_aside")] == [
            0
        ] * 3
        codes = {name for name in found if name.startswith("hob_turn_failures_total")}
        assert codes >= {f'hob_turn_failures_total{{code="{fault.value}"}}' for fault in ModelFault}
        assert found["hob_backup_timestamp_seconds"] == 0
        assert found['hob_model_calls_total{model="usual-1"}'] == 0
        assert found["process_start_time_seconds"] > 1e9
        assert found.get("process_resident_memory_bytes", 1e9) > 1e7


@pytest.mark.parametrize("name", ['a"b', "a\\b", "a\nb", "ä{}", ""])
def test_metric_labels_are_escaped(name: str) -> None:
    text = exposition([Metric("hob_x", "gauge", f"Doc of {name}", (({"model": name}, 0.1), ({"model": "z"}, 2e-9)))])
    assert len(text.splitlines()) == 4
    assert len(values(text)) == 2
