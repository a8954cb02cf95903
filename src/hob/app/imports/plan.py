"""The plan of `hob import`: one item for each thing to import, with its outcome."""

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from enum import StrEnum
from typing import Any

from hob.app.imports.contents import SourceConversation, SourceFile, SourceKey, SourceSetting
from hob.core.values import dataclass


class ItemKind(StrEnum):
    """The kind of an item."""

    FILE = "file"
    SETTING = "setting"
    SECRET = "secret"  # noqa: S105 - not a secret
    CONVERSATION = "conversation"
    OTHER = "other"


class ItemStatus(StrEnum):
    """The state of an item."""

    NEW = "new"
    """It will be imported."""
    REPLACES = "replaces"
    """It will replace an unchanged template."""
    THERE = "there"
    """It is already here."""
    CONFLICT = "conflict"
    """Something else exists here, and stays."""
    NOT_TAKEN = "not_taken"
    DONE = "done"
    FAILED = "failed"


OPEN = (ItemStatus.NEW, ItemStatus.REPLACES)


@dataclass(frozen=True, slots=True)
class Item:
    """One thing to import: its source, its target, and why it is skipped or a note about it.

    For a conversation, `new` and `there` count messages, and `passed` the skipped ones by reason.
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
        """Return the item with its outcome."""
        return replace(self, status=status, why=why or self.why)

    def as_json(self) -> dict[str, Any]:
        """Return the item as JSON."""
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
    """All items, in the order in which they are carried out."""

    assistant: str
    title: str
    folder: str
    items: Sequence[Item]

    def of(self, *kinds: ItemKind) -> list[Item]:
        """Return the items of these kinds."""
        return [item for item in self.items if item.kind in kinds]

    @property
    def open(self) -> bool:
        """Whether anything is left to do."""
        return any(item.status in OPEN for item in self.items)

    def as_json(self) -> dict[str, Any]:
        """Return the plan as JSON."""
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
