"""What the model is told, and in which order."""

from hob.agent.prompt.builder import PromptBuilder
from hob.agent.prompt.values import Prompt, Section

__all__ = ["Prompt", "PromptBuilder", "Section"]
