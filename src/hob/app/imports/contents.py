"""Sources of `hob import` as values: what another assistant has, and how one is recognised."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import field
from pathlib import Path, PurePosixPath

from hob.core.values import dataclass
from hob.gateway.imports import PastMessage


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file of the other's workspace, and what it is called in ours."""

    source: Path
    target: PurePosixPath


@dataclass(frozen=True, slots=True)
class SkippedPart:
    """A piece of a conversation that is not taken over."""

    why: str


@dataclass(frozen=True, slots=True)
class SourceConversation:
    """One conversation. `read` yields it from its beginning, a little at a time; it may raise Unreadable.

    `size` is what there is to read, in bytes, as far as that is known.
    """

    session: str
    source: str
    read: Callable[[], Iterator[PastMessage | SkippedPart]]
    title: str = ""
    size: int = 0


@dataclass(frozen=True, slots=True)
class SourceSetting:
    """A setting of Hob's that theirs come down to: a text, or texts that are added to a list."""

    key: str
    value: str | tuple[str, ...]
    source: str
    adds: bool = False


@dataclass(frozen=True, slots=True)
class SourceKey:
    """A key or password, to be kept where this setting can refer to it. It is shown nowhere."""

    key: str
    value: str = field(repr=False)
    source: str


@dataclass(frozen=True, slots=True)
class SkippedItem:
    """What is not taken over, and why."""

    what: str
    why: str


@dataclass(frozen=True, slots=True)
class Contents:
    """All that was found."""

    files: Sequence[SourceFile] = ()
    conversations: Sequence[SourceConversation] = ()
    settings: Sequence[SourceSetting] = ()
    keys: Sequence[SourceKey] = ()
    left: Sequence[SkippedItem] = ()


@dataclass(frozen=True, slots=True)
class SourceFolder:
    """A (real) folder to read. `owners`: it is in the assistant's usual place, or its reader said that it is theirs.
    Any other may have been made by anybody: it names no address, no secret that is here, and no one who may write.

    What is opened to be read later is put on the stack.
    """

    root: Path
    owners: bool
    environ: Mapping[str, str]
    stack: ExitStack


@dataclass(frozen=True, slots=True)
class Assistant:
    """One that Hob can take over from.

    `places` are where it usually keeps its state, given the environment and the user's home; `knows` says whether a
    folder looks like its; `read` raises Unreadable for one that is not.
    """

    id: str
    title: str
    places: Callable[[Mapping[str, str], Path], Sequence[Path]]
    knows: Callable[[Path], bool]
    read: Callable[[SourceFolder], Contents]
