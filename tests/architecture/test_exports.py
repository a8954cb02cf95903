"""What each package exports, name by name: a wider API is a visible line in a diff."""

from importlib import import_module

import pytest

EXPORTS = {
    "hob.testing": """
        AllowAll Cut End Fault FaultyDisk FunctionTools ManualClock MemoryChannel ModelServer
        ObedientModel Outside Reply ScriptedModel Silence SpoolChannel calls check_channel check_describer
        check_embedder check_model check_speaker check_subsystem check_toolset check_transcriber
        memory_store message tool
    """,
}


@pytest.mark.parametrize("package", EXPORTS)
def test_package_exports_what_is_listed_here(package: str) -> None:
    module = import_module(package)
    assert sorted(module.__all__) == EXPORTS[package].split()


@pytest.mark.parametrize("package", EXPORTS)
def test_every_exported_name_is_there(package: str) -> None:
    module = import_module(package)
    assert [name for name in module.__all__ if getattr(module, name, None) is None] == []
