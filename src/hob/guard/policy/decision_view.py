"""A policy decision as values."""

from typing import TypedDict


class StageAnswer(TypedDict):
    """The answer of one stage of the policy."""

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
