"""Types for an open feature."""

from hob.agent.commands.slash_commands import CommandCall
from hob.app.contribution import Contribution, Effects, Follower, Job, Start
from hob.app.kernel import Kernel
from hob.app.running_app import RunningServices
from hob.store.plugin_records import PluginRecord, PluginRecords

__all__ = [
    "CommandCall",
    "Contribution",
    "Effects",
    "Follower",
    "Job",
    "Kernel",
    "PluginRecord",
    "PluginRecords",
    "RunningServices",
    "Start",
]
