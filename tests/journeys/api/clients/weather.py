"""A client-side tool that notes its call and answers when the test says so."""

import os
import time
from pathlib import Path


def get_weather(city: str) -> str:
    """The weather in a city."""
    gate = Path(os.environ["GATE"])
    (gate / "called").touch()
    while not (gate / "go").exists():
        time.sleep(0.02)
    return f"rain in {city}"
