"""Coding CLIs keep the promises of a model: stand-ins in every run, the real ones from npm in the full one."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from hob.core.errors import ModelError, ModelFault
from hob.core.models import ModelReply
from hob.core.ports.model import Model
from hob.testing.model import Cut, Silence
from hob.testing.model_check import Behaviour, Make, check_model
from tests.providers.cli.fake import CLIS, FakeCli, Run, answer, half, overflow, recorded
from tests.providers.cli.real import real_cli

CASES = {
    ModelFault.AUTH: "unauthorized",
    ModelFault.OVERLOAD: "overload",
    ModelFault.RATE_LIMIT: "rate_limit",
}


def run_of(name: str, behaviour: Behaviour) -> Run:
    match behaviour:
        case ModelReply():
            return answer(name, behaviour.text, behaviour.reasoning, behaviour.text.partition(" "))
        case ModelError(fault=ModelFault.CONTEXT_OVERFLOW):
            return overflow(name)
        case ModelError():
            return recorded(name)[CASES[behaviour.fault]]
        case Cut(text):
            return half(name, text)
        case Silence():
            return {"exit": None}


def fakes(name: str, folder: Path) -> Make:
    @asynccontextmanager
    async def make(behaviours: tuple[Behaviour, ...]) -> AsyncIterator[Model]:
        cli = FakeCli(folder / str(len(list(folder.iterdir()))), name)
        cli.plan(*(run_of(name, behaviour) for behaviour in behaviours))
        yield cli.model()

    return make


@pytest.mark.parametrize("name", CLIS)
async def test_every_cli_keeps_the_promises_of_a_model(tmp_path: Path, name: str) -> None:
    await check_model(fakes(name, tmp_path), calls=False)


@pytest.mark.full
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("name", CLIS)
async def test_real_clis_keep_the_promises_too(tmp_path: Path, name: str, clis: Path) -> None:
    # Codex tells each message as a whole
    await check_model(real_cli(name, clis, tmp_path), calls=False, streams=name != "codex-cli")
