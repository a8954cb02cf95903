"""Running commands where they can do no harm: backends, limits, a filtered network, and undoing what they changed."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # names are loaded when first used: the settings must not load the sandbox
    from hob.tools.sandbox.finding import Found as Found
    from hob.tools.sandbox.finding import find_backend as find_backend
    from hob.tools.sandbox.hosts import Decision as Decision
    from hob.tools.sandbox.hosts import HostRules as HostRules
    from hob.tools.sandbox.job import Finished as Finished
    from hob.tools.sandbox.job import Job as Job
    from hob.tools.sandbox.job import Limits as Limits
    from hob.tools.sandbox.job import Reason as Reason
    from hob.tools.sandbox.job import Root as Root
    from hob.tools.sandbox.job import Window as Window
    from hob.tools.sandbox.launching import Backend as Backend
    from hob.tools.sandbox.processes import Processes as Processes
    from hob.tools.sandbox.processes import open_processes as open_processes
    from hob.tools.sandbox.running import Hearing as Hearing
    from hob.tools.sandbox.running import Running as Running
    from hob.tools.sandbox.running import run as run
    from hob.tools.sandbox.running import start as start
    from hob.tools.sandbox.settings import SandboxSettings as SandboxSettings
    from hob.tools.sandbox.surroundings import Surroundings as Surroundings
    from hob.tools.sandbox.surroundings import surroundings_of as surroundings_of
    from hob.tools.sandbox.undo.entries import Change as Change
    from hob.tools.sandbox.undo.entries import Snapshot as Snapshot
    from hob.tools.sandbox.undo.entries import changes as changes
    from hob.tools.sandbox.undo.restoring import Restored as Restored
    from hob.tools.sandbox.undo.snapshots import Snapshots as Snapshots
    from hob.tools.sandbox.undo.walking import Bounds as Bounds

_HOMES = {
    "Backend": "launching",
    "Bounds": "undo.walking",
    "Change": "undo.entries",
    "Decision": "hosts",
    "Finished": "job",
    "Found": "finding",
    "Hearing": "running",
    "HostRules": "hosts",
    "Job": "job",
    "Limits": "job",
    "Processes": "processes",
    "Reason": "job",
    "Restored": "undo.restoring",
    "Root": "job",
    "Running": "running",
    "SandboxSettings": "settings",
    "Snapshot": "undo.entries",
    "Snapshots": "undo.snapshots",
    "Surroundings": "surroundings",
    "Window": "job",
    "changes": "undo.entries",
    "find_backend": "finding",
    "open_processes": "processes",
    "run": "running",
    "start": "running",
    "surroundings_of": "surroundings",
}
__all__ = [
    "Backend",
    "Bounds",
    "Change",
    "Decision",
    "Finished",
    "Found",
    "Hearing",
    "HostRules",
    "Job",
    "Limits",
    "Processes",
    "Reason",
    "Restored",
    "Root",
    "Running",
    "SandboxSettings",
    "Snapshot",
    "Snapshots",
    "Surroundings",
    "Window",
    "changes",
    "find_backend",
    "open_processes",
    "run",
    "start",
    "surroundings_of",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
