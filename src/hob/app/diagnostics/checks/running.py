"""Checks of the running Hob, from its own status."""

import re
from collections.abc import Iterator
from pathlib import Path

from hob.app.diagnostics.check import Check, CheckResult, critical, info, warn
from hob.app.diagnostics.context import ANSWER_SECONDS, CheckSkipped, DiagnosticContext
from hob.app.logs.log_file import FOLDER, NAME
from hob.app.service.service_manager import read_text
from hob.core.translation.code_words import FAULT_WORDS
from hob.core.translation.language import translatable

_FEW_FILES = 2_000


def _hung(diagnostics: DiagnosticContext) -> Iterator[CheckResult]:
    if diagnostics.owner is None or diagnostics.owner.status is not None:
        return
    if diagnostics.owner.problem:
        yield critical(
            translatable("it answers that something is wrong: {problem}", problem=diagnostics.owner.problem),
            "`hob logs` may say more",
            diagnostics.owner.name,
        )
    else:
        yield critical(
            translatable(
                "it owns the home and does not answer within {seconds:.0f} seconds",
                seconds=ANSWER_SECONDS,
            ),
            "`hob logs` may say why; to end it loses nothing: `hob service restart`, or kill it",
            diagnostics.owner.name,
        )


def _store(diagnostics: DiagnosticContext) -> Iterator[CheckResult]:
    if (problem := diagnostics.status().get("store", "ok")) != "ok":
        yield critical(
            translatable("nothing is accepted now: {problem}", problem=problem),
            "`hob status` shows more; accepted messages are kept",
        )


def _resting(diagnostics: DiagnosticContext) -> Iterator[CheckResult]:
    for route in diagnostics.status().get("resting", ()):
        yield warn(
            translatable("this model is paused ({reason})", reason=FAULT_WORDS.get(route["reason"], route["reason"])),
            "`hob models test` asks it now",
            route["model"],
        )


def _settings(diagnostics: DiagnosticContext) -> Iterator[CheckResult]:
    settings = diagnostics.status().get("settings") or {}
    if problem := settings.get("problem"):
        yield warn(
            translatable("it was told to read its settings again and they were wrong: {problem}", problem=problem),
            "`hob config check`",
        )
    if waiting := settings.get("waiting"):
        yield info(
            "these settings were changed and hold from the next start on", "`hob service restart`", ", ".join(waiting)
        )


def _late(diagnostics: DiagnosticContext) -> Iterator[CheckResult]:
    if (since := diagnostics.status().get("late_since")) is not None:
        minutes = max(0.0, diagnostics.now - since) / 60
        yield warn(
            translatable("replies have not arrived for {minutes:.0f} minutes", minutes=minutes),
            "`hob status` says of which channel",
        )


def _backup(diagnostics: DiagnosticContext) -> Iterator[CheckResult]:
    if problem := (diagnostics.status().get("backups") or {}).get("problem"):
        yield warn(
            translatable("the last daily backup failed: {problem}", problem=problem),
            "fix that; Hob tries again every hour",
        )


def _memory(diagnostics: DiagnosticContext) -> Iterator[CheckResult]:
    memory = diagnostics.status().get("memory") or {}
    if problem := memory.get("problem"):
        yield warn(
            translatable("memory finds by words alone, the embedder failed: {problem}", problem=problem),
            "fix it or change model.embedding; Hob tries again by itself",
            memory["embedder"],
        )

    if problem := memory.get("unassisted"):
        yield warn(
            translatable("no model helps with searches in memory: {problem}", problem=problem),
            "what is found stands in Hob's own order; see model.reranking and memory.ask_model",
        )
    if count := memory.get("permanent"):
        yield warn(
            translatable("{count} memories never expire, more than memory.max_items", count=f"{count:,}"),
            "`hob memory stats` shows their layers, `hob memory forget --source SOURCE` forgets what you do not need",
        )


def _jobs(diagnostics: DiagnosticContext) -> Iterator[CheckResult]:
    for job in diagnostics.status().get("jobs", ()):
        if job["state"] == "stopped":
            yield critical(
                translatable("a job has stopped: {problem}", problem=job["problem"]),
                "`hob doctor` names what is damaged",
                job["name"],
            )
        elif job["state"] == "waiting":
            advice = "it is started again by itself; `hob logs` shows what happened"
            yield warn(translatable("a job fails: {problem}", problem=job["problem"]), advice, job["name"])


def _followers(diagnostics: DiagnosticContext) -> Iterator[CheckResult]:
    for follower in diagnostics.status().get("followers", ()):
        if count := follower.get("quarantined", 0):
            yield warn(
                translatable("it skipped {count} events of the timeline that it could not take", count=count),
                "`hob logs` shows why; please report it",
                follower["name"],
            )


def _plugins(diagnostics: DiagnosticContext) -> Iterator[CheckResult]:
    for plugin in diagnostics.status().get("plugins", ()):
        if problem := plugin["problem"]:
            yield warn(
                translatable("a plug-in that is on is not open: {problem}", problem=problem),
                "`hob plugins list` shows them",
                plugin["name"],
            )


def _log(diagnostics: DiagnosticContext) -> Iterator[CheckResult]:
    if (
        diagnostics.owner is not None
        and diagnostics.owner.status is not None
        and not (file := diagnostics.home / FOLDER / NAME).exists()
    ):
        yield warn("what it does is written nowhere", "`hob secrets reload` begins a new file", str(file))


def _open_files(diagnostics: DiagnosticContext) -> Iterator[CheckResult]:
    limits = Path(f"/proc/{diagnostics.status().get('pid', 0)}/limits")
    found = re.search(r"^Max open files\s+(\d+)", read_text(limits), re.MULTILINE)
    if found is None:
        raise CheckSkipped("the system does not say")
    if int(found[1]) < _FEW_FILES:
        yield warn(
            translatable(
                "it may have {files} files open at once, and the API alone may hold that many connections",
                files=found[1],
            ),
            "raise it: `ulimit -n 8192` before `hob serve`, or LimitNOFILE= in `systemctl --user edit hob`",
        )


def _not_running(diagnostics: DiagnosticContext) -> Iterator[CheckResult]:
    if diagnostics.owner is None and diagnostics.home.is_dir():
        yield info("Hob is not running", "`hob service install` keeps it running, `hob serve` runs it here")


RUNNING: tuple[Check, ...] = (
    Check("daemon.hung", "Does the running Hob answer?", _hung, slow=True),
    Check("daemon.refusing", "Does it accept messages?", _store),
    Check("daemon.resting", "Are all models asked?", _resting),
    Check("daemon.settings", "Does it go by the settings as they are?", _settings),
    Check("daemon.late", "Do replies arrive?", _late),
    Check("daemon.backup", "Are daily backups made?", _backup),
    Check("daemon.memory", "Does memory find by meaning, where that is wanted, and does it stay small?", _memory),
    Check("daemon.jobs", "Do all jobs run?", _jobs),
    Check("daemon.followers", "Was every event taken?", _followers),
    Check("daemon.plugins", "Are all plug-ins open that are on?", _plugins),
    Check("daemon.log", "Does it write its log?", _log),
    Check("daemon.files", "May it open enough files?", _open_files),
    Check("daemon.stopped", "Is Hob running?", _not_running),
)
