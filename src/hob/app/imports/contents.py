"""The contents of another assistant as values, and the recognition of its folder."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import field
from pathlib import Path, PurePosixPath

from hob.core.values import dataclass
from hob.gateway.imports import PastMessage


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file of the other workspace, and its name in Hob's."""

    source: Path
    target: PurePosixPath


@dataclass(frozen=True, slots=True)
class SkippedPart:
    """A part of a conversation that is skipped."""

    why: str


@dataclass(frozen=True, slots=True)
class SourceConversation:
    """One conversation. `read` yields it lazily from its beginning; it may raise Unreadable.

    `size` is its size in bytes, 0 if unknown.
    """

    session: str
    source: str
    read: Callable[[], Iterator[PastMessage | SkippedPart]]
    title: str = ""
    size: int = 0


@dataclass(frozen=True, slots=True)
class SourceSetting:
    """A setting of Hob with its imported value: a text, or texts to add to a list."""

    key: str
    value: str | tuple[str, ...]
    source: str
    adds: bool = False


@dataclass(frozen=True, slots=True)
class SourceKey:
    """A key or password, stored where this setting can refer to it. It is never shown."""

    key: str
    value: str = field(repr=False)
    source: str


@dataclass(frozen=True, slots=True)
class SkippedItem:
    """Something that is not imported, with the reason."""

    what: str
    why: str


@dataclass(frozen=True, slots=True)
class Contents:
    """Everything found in a source."""

    files: Sequence[SourceFile] = ()
    conversations: Sequence[SourceConversation] = ()
    settings: Sequence[SourceSetting] = ()
    keys: Sequence[SourceKey] = ()
    left: Sequence[SkippedItem] = ()


@dataclass(frozen=True, slots=True)
class SourceFolder:
    """A resolved folder to read. `owners`: it is in the assistant's usual place, or the user says it is their own.
    Others may have been made by anyone: they set no address, refer to no existing secret, and admit no one.

    Resources needed for later reading are put on the stack.
    """

    root: Path
    owners: bool
    environ: Mapping[str, str]
    stack: ExitStack


@dataclass(frozen=True, slots=True)
class Assistant:
    """An assistant that Hob can import from.

    `places` returns its usual folders, given the environment and the user's home; `knows` returns whether a folder
    looks like its own; `read` raises Unreadable for one that is not.
    """

    id: str
    title: str
    places: Callable[[Mapping[str, str], Path], Sequence[Path]]
    knows: Callable[[Path], bool]
    read: Callable[[SourceFolder], Contents]
