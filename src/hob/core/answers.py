"""What lower layers give the API to answer, field by field; the rest stands in `hob.gateway`."""

from typing import Any, NotRequired, TypedDict


class MemoryItemAnswer(TypedDict):
    """Something that is remembered.

    score: only where something was looked for
    parts: what the score consists of
    """

    id: str
    layer: str
    source: str
    text: str
    at: float
    origin: str
    trust: str
    speaker: str
    session: str
    turn: str
    color: str
    score: NotRequired[float]
    parts: NotRequired[dict[str, Any]]
    position: NotRequired[int]
    role: NotRequired[str]
    kind: NotRequired[str]
    importance: NotRequired[float]
    valid_from: NotRequired[float | None]
    valid_to: NotRequired[float | None]
    superseded_by: NotRequired[str | None]
    evidence: NotRequired[list[str]]
    expires_at: NotRequired[float | None]


class StageAnswer(TypedDict):
    """What one stage of the policy said."""

    stage: str
    verdict: str
    rule: str


class DecisionView(TypedDict):
    """A decision as values.

    verdict: `allow`, `ask` or `deny`
    acts: what the call would do
    """

    verdict: str
    rule: str
    reason: str
    acts: list[str]
    tier: int | None
    stages: list[StageAnswer]


class RepoRow(TypedDict):
    """Something in a folder.

    type: `file`, `folder` or `link`
    """

    path: str
    name: str
    type: str
    depth: int
    size: int


class FileAnswer(TypedDict):
    """A file.

    cut: only its beginning is told
    """

    path: str
    content: str
    size: int
    binary: bool
    cut: bool
