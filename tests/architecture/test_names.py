"""What is stored, sent, typed or set keeps its name, whatever Python calls it."""

import difflib
import runpy

import pytest

from .sources import ROOT


def test_data_names_match_the_committed_list(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT / "docs")  # as when it is run as a program
    now = runpy.run_path(str(ROOT / "docs" / "names.py"))["names"]().splitlines()
    committed = (ROOT / "names.lock").read_text("utf-8").splitlines()
    changed = list(difflib.unified_diff(committed, now, "names.lock", "the code", lineterm="", n=0))
    assert changed == [], "\n".join(
        ("names that are data have changed:", *changed, "if that is meant: make names, and a line in CHANGELOG.md")
    )
