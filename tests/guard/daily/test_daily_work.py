"""A day's work needs no question, except where one is right."""

from pathlib import Path

import pytest

from tests.guard.daily.tasks import TASKS
from tests.guard.daily.world import Came, office

pytestmark = pytest.mark.slow


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def table(came: list[Came]) -> str:
    """Format one line per task."""
    return "\n".join(
        f"{len(each.questions)} {len(each.results):2} {each.task.name} {', '.join(each.questions)}" for each in came
    )


@pytest.mark.bubblewrap
async def test_a_days_work_needs_hardly_any_questions(home: Path) -> None:
    async with office(home) as at:
        came = [await at.do(task) for task in TASKS]
    print(table(came))
    assert len(came) >= 60
    assert {each.task.name: each.refused for each in came if each.refused} == {}
    assert {each.task.name: each.wrong for each in came if each.wrong} == {}
    assert {each.task.name: each.questions for each in came if len(each.questions) != each.task.asks} == {}
    assert all(len(each.questions) <= 1 for each in came)
    # 66 of 74: calendar entries in tainted turns persist, so two more tasks ask
    assert sum(not each.questions for each in came) >= 0.89 * len(came)
