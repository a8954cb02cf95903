"""The dashboard's administration: log, doctor, channels, secrets, sandbox and plug-ins."""

import asyncio
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from hob.app.diagnostics.context import DiagnosticContext
from hob.app.diagnostics.report import run_checks
from hob.app.logs.log_file import NAME, full_files
from hob.app.logs.log_lines import LogLine, line_view, parse_line
from hob.app.models.candidates import (
    ModelCandidate,
    address_problem,
    draft_with_key,
    is_key,
    list_chat_models,
    name_of,
    save_candidate,
)
from hob.app.models.keys import FILE
from hob.app.models.probe import open_model_setup
from hob.app.models.provider_draft import ProviderConfigDraft
from hob.app.plugins.manifest import read_manifests
from hob.app.settings.secret_stores import list_secrets
from hob.app.settings.sections import read_config
from hob.app.trust.identity_review import compare_files, settle_file
from hob.bus.directory import ChannelDirectory
from hob.config.fields import find_setting
from hob.config.loading import Config
from hob.core.clock import SystemClock
from hob.core.errors import InvalidRequest, ModelError, NotConfigured
from hob.core.translation.language import translatable
from hob.core.trust.labels import SenderClass
from hob.gateway.administration import (
    ChannelAnswer,
    ConnectedAnswer,
    DoctorAnswer,
    IdentityFilesAnswer,
    LogLineAnswer,
    LogsQuery,
    ModelConnection,
    PluginAnswer,
    Probe,
    SandboxAnswer,
    SecretAnswer,
)
from hob.guard.audit.entries import of_action
from hob.providers.catalog.catalog import SERVER, find_provider
from hob.store.store import Store
from hob.tools.sandbox.backends.detection import try_backend
from hob.tools.sandbox.settings import SandboxSettings
from hob.workspace.settings import WorkspaceSettings

GOOD_SECONDS = 300.0
"""Seconds for which the doctor's result is reused."""
_LEVELS = ("debug", "info", "warning", "error", "critical")


class OwnerAdministration:
    """Implements the gateway's `Administration`."""

    def __init__(
        self,
        home: Path,
        environ: Mapping[str, str],
        store: Store,
        channels: ChannelDirectory,
        config: Callable[[], Config],
    ) -> None:
        """`config` returns the current settings."""
        self._config = config
        self._home = home
        self._environ = environ
        self._store = store
        self._channels = channels
        self._clock = SystemClock()
        self._examined: dict[bool, DoctorAnswer] = {}
        self._examining = asyncio.Lock()

    async def logs(self, criteria: LogsQuery) -> Sequence[LogLineAnswer]:
        """Return lines of the log, newest last."""
        return [line_view(line) for line in await asyncio.to_thread(_newest_lines, self._home / "logs", criteria)]

    async def examine(self, *, online: bool, refresh: bool) -> DoctorAnswer:
        """Return the doctor's recent findings. `refresh` examines again, `online` contacts model servers too."""
        async with self._examining:  # concurrent requests share one run
            known, now = self._examined.get(online), self._clock.now().timestamp()
            if refresh or known is None or not 0 <= now - known["at"] < GOOD_SECONDS:
                known = self._examined[online] = await self._look(online=online)
            return known

    async def _look(self, *, online: bool) -> DoctorAnswer:
        context = DiagnosticContext(self._home, self._environ, online=online)
        report = await asyncio.to_thread(run_checks, context)
        return {
            "at": self._clock.now().timestamp(),
            "checks": report.checks,
            "findings": [
                {
                    "id": each.id,
                    "severity": each.found.severity.value,
                    "title": str(each.found.title),
                    "advice": str(each.found.advice),
                    "where": str(each.found.where),
                }
                for each in report.findings
            ],
            "skipped": [{"id": id, "reason": str(reason)} for id, reason in report.skipped],
        }

    async def channels(self) -> Sequence[ChannelAnswer]:
        """Return the running channels, each with its number of undelivered messages."""
        stuck = [row.outbound.to for row in await self._store.outbox.stuck(500)]
        return [
            {
                "name": name,
                "account": account,
                "text_limit": channel.text_limit,
                "undelivered": sum((to.channel, to.account) == (name, account) for to in stuck),
            }
            for (name, account), channel in sorted(self._channels.all.items())
        ]

    async def secrets(self) -> Sequence[SecretAnswer]:
        """Return where the secrets of the settings are stored, never their values."""
        return await asyncio.to_thread(_secrets, self._config())

    async def sandbox(self) -> SandboxAnswer:
        """Return the sandbox of commands and its limits. May start a process."""
        return await asyncio.to_thread(_sandbox, self._config(), self._environ.get("PATH", ""))

    async def identity(self) -> IdentityFilesAnswer:
        """Return the identity files, each with its changes since acceptance."""
        return await asyncio.to_thread(compare_files, self._home, self._config()[WorkspaceSettings].path)

    async def settle_identity(self, name: str, hash_: str, *, accept: bool) -> IdentityFilesAnswer:
        """Accept a file as it was shown, or restore the accepted version; recorded in the audit log."""
        folder = self._config()[WorkspaceSettings].path
        await asyncio.to_thread(settle_file, self._home, folder, name, hash_, accept=accept)
        did = "accept" if accept else "put_back"
        await self._store.audit.add(of_action(did, "done", SenderClass.OWNER, target=f"{name} {hash_}"))
        return await self.identity()

    async def connect(self, new_model: ModelConnection, probe: Probe) -> ConnectedAnswer:
        """Test the model, and if it answers, store its key and make it the default."""
        candidate = _candidate(new_model)
        with draft_with_key(self._home, candidate) as draft:
            if not draft.model:
                names = await _list_models(draft)
                draft = replace(draft, model=name_of(draft.provider, names[0]) if names else "")
                candidate = replace(candidate, draft=replace(candidate.draft, model=draft.model))
            row = await probe(draft.model, draft.as_text())
        kept = bool(row["ok"]) or (new_model.anyway and "answer" in row)
        if kept:
            await asyncio.to_thread(save_candidate, self._home, candidate)
        return {
            "model": row["model"],
            "ok": row["ok"],
            "tools": row["tools"],
            "trouble": row["trouble"],
            "kept": kept,
        }

    async def plugins(self) -> Sequence[PluginAnswer]:
        """Return the installed plug-ins."""
        found = await asyncio.to_thread(read_manifests, self._home)
        return [
            {
                "name": name,
                "package": each.package,
                "version": each.version,
                "on": each.on,
                "declares": list(each.declares),
                "commands": sorted(each.commands),
            }
            for name, each in sorted(found.items())
        ]


def _candidate(new_model: ModelConnection) -> ModelCandidate:
    own, known = new_model.provider == SERVER, find_provider(new_model.provider)
    if not own and known is None:
        raise InvalidRequest(translatable("unknown provider {provider}", provider=new_model.provider))
    if own and (trouble := address_problem(new_model.base_url)):
        raise InvalidRequest(trouble)
    if new_model.key and not is_key(new_model.key):
        raise InvalidRequest(translatable("a key is one line without spaces"))
    usual = known.model if known is not None and not own else ""
    model = new_model.model.removeprefix(f"{new_model.provider}/") or usual
    name = name_of(new_model.provider, model) if model else ""
    return ModelCandidate(
        ProviderConfigDraft(name, new_model.provider, new_model.base_url if own else ""), new_model.key, FILE
    )


def _secrets(config: Config) -> list[SecretAnswer]:
    found: list[SecretAnswer] = []
    for each in list_secrets(config):
        setting = find_setting(config.sections, tuple(each.key.split(".")))
        about, reference = setting.rules.doc if setting else "", each.reference or None
        found.append(
            {"key": each.key, "about": about, "reference": reference, "problem": each.problem, "changed": each.changed}
        )
    return found


def _sandbox(config: Config, path: str) -> SandboxAnswer:
    settings, known, why, advice = config[SandboxSettings], None, "", ""
    try:
        known = try_backend(settings.backend, path, settings.image)
        why, advice = known.reason, known.advice
    except NotConfigured as error:
        advice = str(error)
    return {
        "backend": settings.backend,
        "found": known.backend.name if known else "",
        "confines": known is not None and known.backend.is_sandbox,
        "reason": why,
        "advice": advice,
        "work": str(config[WorkspaceSettings].work),
        "hosts": settings.hosts,
        "read": settings.read,
        "write": settings.write,
        "outgoing": settings.outgoing,
        "protected": settings.protected,
        "toolchains": settings.toolchains,
        "environment": settings.environment,
        "credentials": [
            {
                "name": name, "host": each.host, "header": each.header, "variable": each.variable,
                "agents": each.agents, "per_minute": each.per_minute,
            }
            for name, each in sorted(settings.credentials.items())
        ],
    }  # fmt: skip


async def _list_models(draft: ProviderConfigDraft) -> tuple[str, ...]:
    try:
        async with open_model_setup(read_config(), SystemClock(), draft) as here:
            return await list_chat_models(here, draft.provider)
    except ModelError:  # the probe will report the reason
        return ()


def _newest_lines(folder: Path, criteria: LogsQuery) -> list[LogLine]:
    """Return the newest matching lines, reading files backwards from the newest as far as needed."""
    minimum, text = _LEVELS.index(criteria.level), criteria.text.casefold()
    found: deque[LogLine] = deque()
    for file in (folder / NAME, *full_files(folder)):
        some = [
            line
            for line in _lines(file)
            if _level_index(line) >= minimum
            and (not text or text in line.text.casefold() or text in line.logger)
            and (not criteria.trace_id or line.trace == criteria.trace_id)
        ]
        found.extendleft(reversed(some[-(criteria.limit - len(found)) :]))
        if len(found) >= criteria.limit:
            break
    return list(found)


def _level_index(line: LogLine) -> int:
    name = line.level.lower()
    return _LEVELS.index(name) if name in _LEVELS else len(_LEVELS)


def _lines(file: Path) -> Iterator[LogLine]:
    try:
        texts = file.read_text("utf-8", "replace").split("\n")
    except OSError:
        return
    yield from (line for text in texts if (line := parse_line(text)) is not None)
