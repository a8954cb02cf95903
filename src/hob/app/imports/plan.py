"""The plan of `hob import`: one line for each thing that would be taken over, and what came of it."""

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from enum import StrEnum
from typing import Any

from hob.app.imports.contents import SourceConversation, SourceFile, SourceKey, SourceSetting
from hob.core.values import dataclass


class ItemKind(StrEnum):
    """What a thing is."""

    FILE = "file"
    SETTING = "setting"
    SECRET = "secret"  # noqa: S105 - a word
    CONVERSATION = "conversation"
    OTHER = "other"


class ItemStatus(StrEnum):
    """Where it stands."""

    NEW = "new"
    """It is going to be taken."""
    REPLACES = "replaces"
    """It is going to be taken, in the place of a template that no one has changed."""
    THERE = "there"
    """It is here already."""
    CONFLICT = "conflict"
    """Something else is here; that stays."""
    NOT_TAKEN = "not_taken"
    DONE = "done"
    FAILED = "failed"


OPEN = (ItemStatus.NEW, ItemStatus.REPLACES)


@dataclass(frozen=True, slots=True)
class Item:
    """One thing: where it comes from, where it goes, and why it is not taken or what should be known of it.

    Of a conversation `new` and `there` count messages, `passed` what was passed over, by reason.
    """

    kind: ItemKind
    source: str
    target: str
    status: ItemStatus
    why: str = ""
    what: SourceFile | SourceSetting | SourceKey | SourceConversation | None = field(default=None, repr=False)
    new: int = 0
    there: int = 0
    passed: Mapping[str, int] = field(default_factory=dict)

    def ended(self, status: ItemStatus, why: str = "") -> "Item":
        """The same, as it came out."""
        return replace(self, status=status, why=why or self.why)

    def as_json(self) -> dict[str, Any]:
        """For programs."""
        view: dict[str, Any] = {
            "kind": self.kind.value,
            "source": self.source,
            "target": self.target,
            "status": self.status.value,
            "why": self.why,
        }
        if self.kind is ItemKind.CONVERSATION:
            view |= {"messages": {"new": self.new, "there": self.there}, "passed": dict(self.passed)}
        return view


@dataclass(frozen=True, slots=True)
class ImportPlan:
    """All of it, in the order in which it is done."""

    assistant: str
    title: str
    folder: str
    items: Sequence[Item]

    def of(self, *kinds: ItemKind) -> list[Item]:
        """Those of these kinds."""
        return [item for item in self.items if item.kind in kinds]

    @property
    def open(self) -> bool:
        """Whether there is anything to do."""
        return any(item.status in OPEN for item in self.items)

    def as_json(self) -> dict[str, Any]:
        """For programs."""
        return {
            "assistant": self.assistant,
            "folder": self.folder,
            "counts": {status.value: sum(item.status is status for item in self.items) for status in ItemStatus},
            "messages": {
                "new": sum(item.new for item in self.items),
                "there": sum(item.there for item in self.items),
            },
            "items": [item.as_json() for item in self.items],
        }
