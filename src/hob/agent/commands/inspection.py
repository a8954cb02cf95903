"""The contents of a session's next request, for `hob prompt` and `/context`."""

import asyncio
from collections.abc import Callable
from contextlib import suppress

from hob.agent.commands.model_names import real_name
from hob.agent.ports import tools_of
from hob.agent.prompt.builder import PromptBuilder
from hob.agent.prompt.section_aliases import seed_section
from hob.agent.prompt.window import load_limit
from hob.agent.settings import AgentSettings
from hob.core.errors import ModelError
from hob.core.ids import SessionKey
from hob.core.models import PromptAnswer
from hob.core.ports.journal import Sessions, Transcript
from hob.core.ports.model import Model
from hob.core.ports.tools import Toolset


class Inspector:
    """Builds the prompt as a turn would, and measures it."""

    def __init__(
        self,
        settings: AgentSettings,
        prompts: PromptBuilder,
        transcript: Transcript,
        sessions: Sessions,
        toolset: Toolset,
        default_model: Callable[[], str],
        model: Model,
    ) -> None:
        self._settings = settings
        self._prompts = prompts
        self._transcript = transcript
        self._sessions = sessions
        self._toolset = toolset
        self._default_model = default_model
        self._model = model

    async def inspect(self, session: SessionKey) -> PromptAnswer:
        """Return the sections with bytes, tokens and whether they are cached, the totals, and the token limit."""
        kept, view = await asyncio.gather(
            self._sessions.get(session), self._transcript.load_view(session, load_limit(self._settings))
        )
        model = kept.model or self._default_model()
        if model:  # without a model name its server would be queried, which delays the answer
            with suppress(ModelError):  # the contents can be measured even if no model is reachable
                model = await real_name(self._model, model)
        prompt = await self._prompts.preview(session, view, tools_of(self._toolset, session).specs(), model)
        return {
            "session": session,
            "model": model,
            "sections": [
                {
                    "name": part.name,
                    "seed": seed_section(part.name),
                    "bytes": part.bytes,
                    "tokens": part.tokens,
                    "cached": part.cached,
                }
                for part in prompt.sections
            ],
            "bytes": sum(part.bytes for part in prompt.sections),
            "tokens": prompt.input_estimate,
            "limit": prompt.limit,
        }
