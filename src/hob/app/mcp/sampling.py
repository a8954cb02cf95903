"""Sampling for MCP servers, within each server's daily token limit, recorded in ledger and audit log."""

import asyncio
import logging

from hob.agent.budget.limits import start_of_today
from hob.agent.sessions import zone_of
from hob.agent.settings import AgentSettings
from hob.app.kernel import Kernel
from hob.app.running_app import RunningServices
from hob.core.errors import HobError
from hob.core.ids import SessionKey
from hob.guard.audit.entries import HOB, of_action
from hob.memory.background_model import BackgroundModel

log = logging.getLogger(__name__)

TASK = "sampling"
"""The ledger's task name; the session `mcp:NAME` names the server."""


class SamplingRefused(HobError):
    """The server's request is refused."""


class ServerSampling:
    """Asks the model on behalf of servers that have tokens left today."""

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        self._running: RunningServices | None = None

    async def run(self, running: RunningServices) -> None:
        """Serve requests until cancelled."""
        self._running = running
        try:
            await asyncio.Event().wait()
        finally:
            self._running = None

    async def ask(self, server: str, tokens: int, system: str, question: str, max_tokens: int) -> str:
        """Ask the model. `tokens` is the daily limit. Raises HobError with a message that the server may read."""
        outcome = "failed"
        try:
            max_tokens = await self._left(server, tokens, system + question, max_tokens)
            text = await self._model().ask(TASK, _session(server), system, question, max_tokens)
            outcome = "done"
            return text
        except SamplingRefused:
            outcome = "refused"
            raise
        except HobError as error:
            log.warning("no model answers the MCP server %s: %s", server, error)
            raise SamplingRefused("no model answers now") from error
        finally:
            await self._kernel.store.audit.add(of_action(TASK, outcome, HOB, target=server))

    def _model(self) -> BackgroundModel:
        if self._running is None:
            raise SamplingRefused("a model is asked for servers by `hob serve` alone")
        return self._running.background

    async def _left(self, server: str, tokens: int, text: str, maximum: int) -> int:
        """Return the maximum tokens of the answer. Raises SamplingRefused, StoreErrors."""
        estimate = self._model().estimate(text)
        since = start_of_today(self._kernel.clock.now(), zone_of(self._kernel.config[AgentSettings].timezone))
        ledger = self._kernel.store.ledger
        used = (await ledger.spent(task=TASK, session=_session(server), since=since)).usage
        left = tokens - used.input - used.output - estimate
        if left <= 0:
            raise SamplingRefused(f"it takes more than {estimate:,} tokens; {max(0, left + estimate):,} are left today")
        return min(max(maximum, 1), left)


def _session(server: str) -> SessionKey:
    return SessionKey(f"mcp:{server}")
