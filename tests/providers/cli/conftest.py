"""The real CLIs, for the full run."""

from pathlib import Path

import pytest

from tests.providers.cli.real import install


@pytest.fixture(scope="session")
def clis() -> Path:
    """The folder of the real programs; they live in `.venv`, which `make clean` removes."""
    return install(Path(__file__).parents[3] / ".venv" / "clis")
