"""The slash commands of Hob and of its features."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from hob.agent.commands.permission_modes import PermissionLevel, PermissionModes
from hob.agent.commands.slash_commands import CommandCall, Perform, SlashCommands
from hob.agent.commands.table import ANSWERS, BY_NAME, SlashCommand
from hob.agent.settings import AgentSettings
from hob.app.features import Features
from hob.app.kernel import Kernel
from hob.app.operations import DaemonOperations
from hob.app.subsystem import FeatureCommand
from hob.app.turn_services.models import ModelServices
from hob.core.errors import NotConfigured
from hob.core.translation.language import translatable
from hob.guard.approvals.answers import may_answer
from hob.guard.policy.modes import Autonomy, Mode
from hob.guard.settings import ApprovalSettings, PolicySettings


def make_commands(
    kernel: Kernel, features: Features, operations: DaemonOperations, models: ModelServices
) -> SlashCommands:
    """Make the slash commands of Hob and its features. Raises NotConfigured if names clash."""
    config = kernel.config
    policy, channels = config[PolicySettings], config[ApprovalSettings].channels
    permission_modes = PermissionModes(
        PermissionLevel(tuple(Mode), policy.mode),
        PermissionLevel(tuple(Autonomy), policy.autonomy),
        lambda inbound: not may_answer(inbound, channels),
    )
    home, sessions = kernel.session_queues.context.routing.session_of, kernel.store.sessions
    return SlashCommands(
        operations, sessions, models.budget, kernel.clock, config[AgentSettings], models.default_model,
        models.model,
        permission_modes, home, _feature_commands(kernel, features),
    )  # fmt: skip


def _feature_commands(kernel: Kernel, features: Features) -> Mapping[SlashCommand, Perform]:
    """Return the features' commands with their handlers. Raises NotConfigured if a name is already used."""
    found: dict[str, tuple[SlashCommand, Perform]] = {}
    for subsystem, _ in features.opened.values():
        here = replace(kernel, ports={port: features.ports[port] for port in subsystem.needs})
        for command in subsystem.slash_commands:
            if command.row.name in (*BY_NAME, *ANSWERS, *found):
                raise NotConfigured(
                    translatable(
                        "{subsystem} brings /{row}, which is there already",
                        subsystem=subsystem.name,
                        row=command.row.name,
                    )
                )
            found[command.row.name] = (command.row, partial(_run_command, command, here))
    return dict(found.values())


async def _run_command(command: FeatureCommand, kernel: Kernel, call: CommandCall) -> str:
    return await command.run()(kernel, call)
