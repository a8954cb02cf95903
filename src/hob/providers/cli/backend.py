"""A coding CLI as a `Model`: one run per request, text only.

The CLI is used only as a language model. It gets no tools, neither its own nor those of the request; for calls, wrap it
in `hob.providers.text_tools`. It runs in its own folder, sees only the variables it needs, and is terminated with all
its children when the answer is over or the stream is closed.
"""

import os
import re
import secrets
import shutil
import tempfile
import uuid
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from hob.core.clock import Clock
from hob.core.content.json_text import parse_json_object
from hob.core.errors import ModelError, ModelFault
from hob.core.models import KeepAlive, ModelEvent, ModelReply, ModelRequest, Remark, StopReason, Usage
from hob.core.ports.processes import ProcessRecords
from hob.core.translation.language import Translatable, join_texts, translatable
from hob.core.translation.sentences import Sentence
from hob.providers.catalog.catalog import CLI_COMMANDS
from hob.providers.cli.events import (
    CliFailed,
    CliFinished,
    CliOpened,
    CliReasoning,
    CliRefused,
    CliRetrying,
    CliText,
    classify_fault,
)
from hob.providers.cli.process import CliProcessPlan, LineTooLong, Process, run
from hob.providers.cli.program import Cli, CliFacts, CliRequest, CliSettings, find_cli, open_cli
from hob.providers.cli.sessions import CliSession, CliSessions, render, render_new
from hob.providers.http.answer import PartialAnswer
from hob.providers.http.faults import hide_keys, read_retry_after

_COMMON = (
    *("HOME", "LANG", "LC_ALL", "LC_CTYPE", "LOGNAME", "PATH", "SHELL", "TZ", "USER", "XDG_CACHE_HOME"),
    *("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR", "XDG_STATE_HOME", "DBUS_SESSION_BUS_ADDRESS"),
    *("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "no_proxy", "all_proxy"),
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS"),
)
_PASSING = {
    *(ModelFault.RATE_LIMIT, ModelFault.OVERLOAD, ModelFault.NETWORK),
    *(ModelFault.CUT, ModelFault.TIMEOUT, ModelFault.GARBAGE),
}
_SECRET = re.compile(r"KEY$|TOKEN$|SECRET|PASSW|HEADERS$", re.IGNORECASE)
_MAX_QUOTED = 300
_BEAT = KeepAlive()


class CliModel:
    """Implements `Model` with a CLI (`claude-cli`, `codex-cli`, `gemini-cli`, `copilot-cli`).

    `environ` is searched for its program and variables; `folder` belongs to it alone. If the CLI keeps conversations,
    only new messages are sent; `cache_key` of the request identifies ours. The CLI's own retries may take
    `request.patience` seconds in total.
    """

    def __init__(
        self,
        name: str,
        settings: CliSettings,
        clock: Clock,
        *,
        environ: Mapping[str, str],
        folder: Path,
        processes: ProcessRecords | None = None,
    ) -> None:
        self._cli: Cli = open_cli(name)
        self._settings = settings
        self._clock = clock
        self._environ = environ
        self._folder = folder
        self._processes = processes
        self._sessions = CliSessions()
        self._mark = secrets.token_hex(4)
        self._swept = False

    async def default_model(self) -> str:
        """Return the configured model; empty if the CLI chooses."""
        return self._settings.model

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent]:
        """Yield the answer in pieces. Raises ModelError."""
        known = self._sessions.take(request) if self._settings.keep_sessions else None
        if known is not None:
            try:
                async with aclosing(self._answer(request, known)) as events:
                    async for event in events:
                        yield event
                return
            except _SessionLost:
                pass  # no answer had begun; the whole conversation is sent again
        async with aclosing(self._answer(request, None)) as events:
            async for event in events:
                yield event

    async def _answer(self, request: ModelRequest, known: CliSession | None) -> AsyncGenerator[ModelEvent]:
        keeps = self._settings.keep_sessions and request.cache_key is not None
        scratch = self._prepare(request)
        try:
            ask = CliRequest(
                scratch,
                request.model or self._settings.model,
                session=known.id if known else str(uuid.uuid4()) if keeps else "",
                resumes=known is not None,
                thinking=request.thinking,
                max_tokens=request.max_tokens,
                further=tuple(self._settings.arguments),
                environ=self._environ,
            )
            text = (
                render_new(request.messages[known.message_count :]) if known else render(request.messages, self._mark)
            )
            heard = _CliRun(self._cli, ask, known, request.patience, self._clock, _find_secrets(self._variables(ask)))
            async with aclosing(self._run(ask, text, heard)) as events:
                async for event in events:
                    yield event
            if keeps and heard.session and heard.reply.stop is not StopReason.LENGTH:
                self._sessions.keep(request, heard.session, heard.reply.text, heard.total)
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
        yield heard.reply

    async def _run(self, ask: CliRequest, text: str, heard: "_CliRun") -> AsyncGenerator[ModelEvent]:
        facts = self._cli.facts
        prompt = ask.scratch / "prompt.txt"
        prompt.write_text(self._cli.prompt(text), "utf-8", errors="replace")
        command = CliProcessPlan(
            (self._program(), *self._cli.arguments(ask)),
            self._variables(ask),
            self._folder / "work",
            prompt,
            self._settings.idle_seconds,
            self._settings.total_seconds,
        )
        try:
            async with run(command, self._processes) as process:
                async with aclosing(process.lines()) as lines:
                    async for line in lines:
                        for event in heard.read(line):
                            yield event
                        if heard.over:
                            break
                await self._close(process, ask, heard)
                if process.never_ran:
                    raise OSError(process.complaints)
                for event in heard.finish(process.returncode, process.complaints):
                    yield event
        except TimeoutError as error:
            raise ModelError(
                ModelFault.TIMEOUT, translatable("{title} said nothing for too long", title=facts.title)
            ) from error
        except LineTooLong as error:
            raise ModelError(
                ModelFault.GARBAGE, translatable("{title} wrote a line that has no end", title=facts.title)
            ) from error
        except OSError as error:
            raise ModelError(
                ModelFault.SETTINGS, translatable("{title} cannot be run: {error}", title=facts.title, error=str(error))
            ) from error

    async def _close(self, process: Process, ask: CliRequest, run: "_CliRun") -> None:
        """Let the CLI exit on its own, so that it saves its conversation and writes its report."""
        if run.stopped_short:
            return
        await process.finish()
        report = self._cli.facts.report
        if report:
            run.take_report(_read_json(ask.scratch / report))

    def _program(self) -> str:
        facts, command = self._cli.facts, self._settings.command
        found = find_cli(facts.name, self._environ.get("PATH", ""), str(Path(command).expanduser()) if command else "")
        if found is None:
            missing = command or CLI_COMMANDS[facts.name]
            raise ModelError(
                ModelFault.SETTINGS,
                translatable(
                    "{missing} is not installed: npm install -g {package}", missing=missing, package=facts.package
                ),
            )
        return found

    def _prepare(self, request: ModelRequest) -> Path:
        """Make a folder for one run, and the working directory shared by all runs, to which conversations belong."""
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._sweep()
            _write(self._folder / "work", self._cli.facts.workplace)
            scratch = Path(tempfile.mkdtemp(prefix=f"run-{os.getpid()}-", dir=self._folder))
            _write(scratch, self._cli.files(request.system))
        except OSError as error:
            raise ModelError(
                ModelFault.SETTINGS,
                translatable("{folder} cannot be written: {error}", folder=self._folder, error=str(error)),
            ) from error
        return scratch

    def _sweep(self) -> None:
        """Remove, once, the files of runs that ended because Hob or the machine stopped."""
        if self._swept:
            return
        self._swept = True
        long_ago = self._clock.now().timestamp() - 2 * self._settings.total_seconds
        for left in self._folder.glob("run-*"):
            with suppress(OSError):  # another Hob may have removed it first
                if left.stat().st_mtime < long_ago or not _is_running(left.name.split("-")[1]):
                    shutil.rmtree(left, ignore_errors=True)

    def _variables(self, ask: CliRequest) -> dict[str, str]:
        facts = self._cli.facts
        names = (*_COMMON, *facts.environment, *self._settings.environment)
        passed = {name: self._environ[name] for name in names if name in self._environ}
        # reports and caches that may contain conversation text are kept in the run's folder and removed with it
        return {**passed, **facts.sets, **self._cli.variables(ask), "TMPDIR": str(ask.scratch)}


class _SessionLost(Exception):
    """The CLI no longer has the conversation."""


class _CliRun:
    """State of one run, from its output lines to the reply."""

    def __init__(
        self,
        cli: Cli,
        ask: CliRequest,
        known: CliSession | None,
        patience: float,
        clock: Clock,
        hidden: tuple[str, ...],
    ) -> None:
        self.session = ask.session
        self.total = known.total if known else Usage()
        self.over = False
        self.stopped_short = False
        self.reply = ModelReply("")
        self._facts: CliFacts = cli.facts
        self._cli = cli
        self._resumes = known is not None
        self._patience = patience
        self._clock = clock
        self._hidden = hidden
        self._decoder = cli.decoder()
        self._answer = PartialAnswer(cli.facts.title, secrets=hidden)
        self._answer.model = ask.model
        self._finished = CliFinished()
        self._failed: CliFailed | None = None
        self._refused: dict[str, None] = {}
        self._retries = 0
        self._first_retry = 0.0
        self._said_json = False

    def read(self, data: bytes) -> list[ModelEvent]:
        """Process a line. Raises ModelError, and _SessionLost."""
        line = parse_json_object(data)
        if line is None:  # a plain message of the program, or half a line
            return [_BEAT]
        self._said_json = True
        for event in self._decoder.feed(line):
            match event:
                case CliText(text):
                    self._answer.say(text)
                case CliReasoning(text):
                    self._answer.think(text)
                case CliOpened(session, model):
                    self.session = session if self.session and session else self.session
                    self._answer.model = model or self._answer.model
                case CliRefused(tool):
                    self._refused[tool or "?"] = None
                case CliRetrying():
                    self._retry(event)
                case CliFailed():
                    self._failed = event
                    self.over = True
                    self.stopped_short = event.fault is ModelFault.CUT and self._answer.begun
                    break
                case CliFinished():
                    self._finish(event)
        return self._answer.take_events() or [_BEAT]

    def take_report(self, report: Mapping[str, Any]) -> None:
        """Read the usage from the CLI's report file, if it writes one."""
        usage = self._cli.read_report(report)
        if usage is not None:
            self._finished = replace(self._finished, usage=usage)

    def finish(self, returncode: int | None, complaints: str) -> list[ModelEvent]:
        """Return the last events before the reply. Raises ModelError if it is incomplete, and _SessionLost."""
        if self._failed is not None:
            raise self._failed_with(self._failed, returncode, complaints)
        if not self.over:
            raise self._ended(returncode, complaints)
        usage = self._finished.usage
        if usage is not None and self._facts.running_total:
            usage, self.total = _subtract(usage, self.total), usage
        self._answer.usage, self._answer.cost = usage, self._finished.cost
        self._answer.complete(self._finished.stop)
        *events, reply = self._answer.take_events()
        if not isinstance(reply, ModelReply):
            raise TypeError(reply)
        self.reply = replace(reply, attempts=1 + self._retries)
        if self._refused:
            values = (("model", self._facts.title), ("tools", ", ".join(self._refused)))
            events.append(Remark(Sentence.CLI_TOOLS_REFUSED, values))
        return events

    def _finish(self, event: CliFinished) -> None:
        self._finished = event
        self.over = True
        self.stopped_short = event.stop is StopReason.LENGTH

    def _retry(self, event: CliRetrying) -> None:
        """Allow the CLI's own retry if a person is waiting and nothing has been shown."""
        now = self._clock.monotonic()
        if not self._retries:
            self._first_retry = now
        if self._answer.begun:
            raise self._failure(ModelFault.CUT, event.said)
        # without a known delay, a retry would leave the user waiting in silence
        waits = event.fault in _PASSING and (event.delay is not None or event.fault is not ModelFault.RATE_LIMIT)
        if not waits or now - self._first_retry + (event.delay or 0.0) >= self._patience:
            raise self._failure(event.fault, event.said, event.delay)
        self._retries += 1

    def _failed_with(self, failed: CliFailed, returncode: int | None, complaints: str) -> Exception:
        fault, said = failed.fault, failed.said
        if not said:  # it failed without a message: its error output may say why
            said = _last(complaints) or ("" if returncode is None else f"it ended with code {returncode}")
            fault = classify_fault(said, otherwise=fault)
        if self._facts.exits_with_status and returncode is not None and 144 <= returncode <= 255:
            fault = classify_fault(failed.said, returncode + 256)
        wait = None if failed.resets_at is None else max(0.0, failed.resets_at - self._clock.now().timestamp())
        error = self._failure(fault, said, wait)
        if isinstance(error, ModelError):
            error.cost = failed.cost
        return error

    def _ended(self, returncode: int | None, complaints: str) -> Exception:
        """Return the error for a run that ended without a result."""
        last = _last(complaints)
        if self._answer.begun or self._retries:
            return self._failure(ModelFault.CUT, last)
        if not self._said_json and returncode == 0:
            return self._failure(ModelFault.GARBAGE, last or "it said nothing")
        fault = classify_fault(last, otherwise=ModelFault.CUT)
        return self._failure(fault, last or f"it ended with code {returncode}")

    def _failure(self, fault: ModelFault, said: str, wait: float | None = None) -> Exception:
        if self._resumes and not self._answer.begun and self._facts.lost.search(said):
            return _SessionLost()
        if wait is None:
            wait = read_retry_after({}, said, self._clock.now())
        return ModelError(
            fault,
            _describe(self._facts, fault, hide_keys(" ".join(said.split()), self._hidden)),
            retry_after=wait if fault in _PASSING else None,
            attempts=1 + self._retries,
        )


_ADVICE: Mapping[ModelFault, str] = {
    ModelFault.AUTH: "{title} is not logged in: {login}",
    ModelFault.BILLING: "the account of {title} has no credit left; top it up or use another model",
    ModelFault.RATE_LIMIT: "{title} may not ask for more at the moment",
    ModelFault.OVERLOAD: "the model of {title} cannot answer at the moment",
    ModelFault.CONTEXT_OVERFLOW: "the conversation is too long for the model",
    ModelFault.NOT_FOUND: "{title} does not have this model; name another one, as in {name}/MODEL",
    ModelFault.BAD_REQUEST: "the server of {title} does not accept what it sends",
    ModelFault.NETWORK: "{title} cannot reach its server; is there a connection?",
    ModelFault.SETTINGS: "{title} does not understand how it is run; update it: npm install -g {package}",
    ModelFault.TIMEOUT: "{title} gave no answer",
    ModelFault.CUT: "{title} gave up before its answer was complete",
    ModelFault.EMPTY: "{title} gave an empty answer",
    ModelFault.FILTERED: "{title} withheld the answer because of its content rules",
    ModelFault.GARBAGE: "this did not speak as {title} does; is it the right program, and a recent one?",
}


def _find_secrets(variables: Mapping[str, str]) -> tuple[str, ...]:
    """Return the values of a program's secret variables, recognised by name."""
    return tuple(word for name, value in variables.items() if _SECRET.search(name) for word in value.split())


def _last(complaints: str) -> str:
    return complaints.replace("\n", " ")[-2000:]


def _describe(facts: CliFacts, fault: ModelFault, said: str) -> str:
    values = {"title": facts.title, "name": facts.name, "login": facts.login, "package": facts.package}
    lead = Translatable(_ADVICE.get(fault, _ADVICE[ModelFault.TIMEOUT]), values)
    if len(said) > _MAX_QUOTED:
        said = f"{said[: _MAX_QUOTED - 1]}…"
    return join_texts(" ", (lead, f"({said})")) if said else lead


def _subtract(usage: Usage, before: Usage) -> Usage:
    """Return what was added to a running total."""
    return Usage(
        max(0, usage.input - before.input),
        max(0, usage.output - before.output),
        max(0, usage.cache_read - before.cache_read),
        max(0, usage.cache_write - before.cache_write),
        max(0, usage.reasoning - before.reasoning),
    )


def _is_running(process: str) -> bool:
    """Whether a process with this number is running; True if the folder's name contains none."""
    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return False
    except (ValueError, OverflowError, PermissionError):
        pass
    return True


def _write(folder: Path, files: Mapping[str, str]) -> None:
    folder.mkdir(mode=0o700, exist_ok=True)
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        data = text.encode("utf-8", "replace")
        if not path.is_file() or path.read_bytes() != data:
            path.write_bytes(data)


def _read_json(path: Path) -> Mapping[str, Any]:
    try:
        return parse_json_object(path.read_bytes()) or {}
    except OSError:
        return {}
