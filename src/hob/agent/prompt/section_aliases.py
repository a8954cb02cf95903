"""Names of prompt sections in Hob's predecessors."""

from typing import Final

SEED_SECTIONS: Final = (
    "Identity", "Bootstrap", "Working Memory", "Observations", "Skills Summary", "RAG", "Conversation",
)  # fmt: skip
"""The sections of the predecessors' prompts, in order, including those that are always empty in Hob."""
_PLACES: Final = {
    "identity": "Identity", "not accepted": "Bootstrap", "working memory": "Working Memory",
    "core profile": "Working Memory", "observations": "Observations", "skills": "Skills Summary", "memories": "RAG",
    "summary": "Conversation", "history": "Conversation", "this turn": "Conversation",
}  # fmt: skip


def seed_section(name: str) -> str:
    """Return the predecessor's name for one of Hob's sections; empty for sections of Hob only (tools, clock, waiting
    work).
    """
    return "Bootstrap" if name.endswith(".md") else _PLACES.get(name, "")
