"""Tools, calls and results as values; effects of calls."""

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
    """What a call does to the world (architecture, section 8)."""

    READS_PRIVATE = "reads_private"
    READS_UNTRUSTED = "reads_untrusted"
    WRITES = "writes"
    WRITES_FINALLY = "writes_finally"
    COMMUNICATES = "communicates"
    PERSISTS = "persists"
    EXECUTES = "executes"


MAX_CHARACTERS = 64_000
"""Of a result. A model with a smaller window is shown less."""

ALL_EFFECTS = frozenset(Effect)


class Tier(IntEnum):
    """The coarse rule by sender: 0 reads, 1 writes, 2 is high risk. Undeclared is 2."""

    READ = 0
    WRITE = 1
    HIGH_RISK = 2


class Restart(StrEnum):
    """May a call be made again when a crash left its outcome unknown?

    `resume`: the tool is called with `resumed` in its context, goes on with what it began, or raises `OutcomeUnknown`.
    """

    AGAIN = "again"
    NEVER = "never"
    RESUME = "resume"


@dataclass(frozen=True, slots=True)
class Variant:
    """What one of the actions of a tool does, and what its arguments are then."""

    effects: frozenset[Effect]
    roles: ArgumentRole
    tier: Tier = Tier.HIGH_RISK


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as the model, the guard and the driver see it.

    `schema` is a JSON Schema of an object; `timeout` is in seconds; `output_cap` in characters, of which a small window
    leaves fewer; `roles` tell what its arguments are. What a tool does not declare is taken at its worst. `variants`
    are what it is for values of the arguments `varies_by`: those that are given, in order, with blanks between.
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
        """The tool as a call with these arguments uses it: one of its variants, or all that it can do."""
        chosen = " ".join(str(arguments[name]) for name in self.varies_by if arguments.get(name))
        found = self.variants.get(chosen)
        return self if found is None else replace(self, effects=found.effects, roles=found.roles, tier=found.tier)


class ToolGroup(NamedTuple):
    """Tools that a session opens together, as data: the few words that announce them, and what they are.

    Those of a group that is `shown` stand in every request, unannounced, in this order; small models are told of the
    first few alone. A plug-in's are shown to sessions that open the group.
    """

    name: str
    line: str
    tools: tuple[ToolSpec, ...]
    shown: bool = False


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call as the model wrote it: `arguments` is the raw JSON text, perhaps malformed."""

    id: CallId
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a call gave. `rest` is the blob with the whole output where `text` had to be cut.

    `remarks` are for the owner and not for the model: what the call did that they should know. `images` are shown to
    the model behind the results of its round, labelled as the text is.
    """

    call: CallId
    text: str
    label: Label = field(default=Label(Origin.TOOL, Trust.UNTRUSTED))
    is_error: bool = False
    rest: BlobId | None = None
    remarks: tuple[Remark, ...] = ()
    images: tuple[Image, ...] = ()
