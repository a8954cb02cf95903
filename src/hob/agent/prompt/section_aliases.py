"""The names by which Hob's forerunners call the parts of a prompt."""

from typing import Final

SEED_SECTIONS: Final = (
    "Identity", "Bootstrap", "Working Memory", "Observations", "Skills Summary", "RAG", "Conversation",
)  # fmt: skip
"""What the prompts of Hob's forerunners consist of, in their order; one that nothing fills is there too."""
_PLACES: Final = {
    "identity": "Identity", "not accepted": "Bootstrap", "working memory": "Working Memory",
    "core profile": "Working Memory", "observations": "Observations", "skills": "Skills Summary", "memories": "RAG",
    "summary": "Conversation", "history": "Conversation", "this turn": "Conversation",
}  # fmt: skip


def seed_section(name: str) -> str:
    """Under which of the seven a part stands; empty for what is Hob's own (tools, clock, waiting work)."""
    return "Bootstrap" if name.endswith(".md") else _PLACES.get(name, "")
