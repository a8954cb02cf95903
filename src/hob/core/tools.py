"""Tools, calls and results; effects of calls."""

from collections.abc import Mapping
from dataclasses import field, replace
from enum import IntEnum, StrEnum
from typing import Any, NamedTuple

from hob.core.argument_roles import ArgumentRole
from hob.core.content.images import Image
from hob.core.ids import BlobId, CallId
from hob.core.translation.remarks import Remark
from hob.core.trust.labels import Label, Origin, Trust
from hob.core.values import dataclass


class Effect(StrEnum):
    """Effect of a call on the world (architecture, section 8)."""

    READS_PRIVATE = "reads_private"
    READS_UNTRUSTED = "reads_untrusted"
    WRITES = "writes"
    WRITES_FINALLY = "writes_finally"
    COMMUNICATES = "communicates"
    PERSISTS = "persists"
    EXECUTES = "executes"


MAX_CHARACTERS = 64_000
"""Maximum characters of a result. A model with a smaller window sees fewer."""

ALL_EFFECTS = frozenset(Effect)


class Tier(IntEnum):
    """Coarse risk of a tool, limited by sender class: 0 reads, 1 writes, 2 is high risk. Undeclared is 2."""

    READ = 0
    WRITE = 1
    HIGH_RISK = 2


class Restart(StrEnum):
    """Whether a call may be made again if a crash left its outcome unknown.

    `resume`: the tool is called with `resumed` in its context and continues what it began, or raises `OutcomeUnknown`.
    """

    AGAIN = "again"
    NEVER = "never"
    RESUME = "resume"


@dataclass(frozen=True, slots=True)
class Variant:
    """Effects and argument roles of one of a tool's actions."""

    effects: frozenset[Effect]
    roles: ArgumentRole
    tier: Tier = Tier.HIGH_RISK


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as seen by the model, the guard and the driver.

    `schema` is a JSON Schema of an object; `timeout` is in seconds; `output_cap` in characters, reduced for small
    windows; `roles` describe its arguments. Anything undeclared is assumed to be the worst case. `variants` are keyed
    by the values of the arguments in `varies_by` that are present, in order, separated by spaces.
    """

    name: str
    description: str
    schema: Mapping[str, Any]
    tier: Tier = Tier.HIGH_RISK
    effects: frozenset[Effect] = ALL_EFFECTS
    restart: Restart = Restart.NEVER
    parallel: bool = False
    timeout: float = 60.0
    output_cap: int = MAX_CHARACTERS
    roles: ArgumentRole | None = None
    varies_by: tuple[str, ...] = ()
    variants: Mapping[str, Variant] = field(default_factory=dict)

    def used_by(self, arguments: Mapping[str, Any]) -> "ToolSpec":
        """Return the tool as used by a call with these arguments: the matching variant, or the whole tool."""
        chosen = " ".join(str(arguments[name]) for name in self.varies_by if arguments.get(name))
        found = self.variants.get(chosen)
        return self if found is None else replace(self, effects=found.effects, roles=found.roles, tier=found.tier)


class ToolGroup(NamedTuple):
    """Tools that a session opens together, as data: the line that announces them, and their specs.

    The tools of a `shown` group are in every request, unannounced, in this order; small models get only the first few.
    A plug-in's tools are shown in sessions that open the group.
    """

    name: str
    line: str
    tools: tuple[ToolSpec, ...]
    shown: bool = False


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call as the model wrote it: `arguments` is the raw JSON text, possibly malformed."""

    id: CallId
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The result of a call. `rest` is the blob with the whole output if `text` was cut.

    `remarks` are notes for the owner about what the call did, not for the model. `images` are shown to the model after
    the results of the round, with the label of the text.
    """

    call: CallId
    text: str
    label: Label = field(default=Label(Origin.TOOL, Trust.UNTRUSTED))
    is_error: bool = False
    rest: BlobId | None = None
    remarks: tuple[Remark, ...] = ()
    images: tuple[Image, ...] = ()
