"""What the routes below `/api/v1` answer beyond what the API has under other names."""

from collections.abc import Mapping
from typing import Annotated, Any, NotRequired, TypedDict


class JobAnswer(TypedDict):
    """Work that goes on as long as Hob runs."""

    name: str
    state: str
    restarts: int
    problem: str | None


class StatusAnswer(TypedDict):
    """How Hob is. Without a token only the first three."""

    version: str
    mode: Annotated[str, "`remote`: other machines reach Hob; `full`: it is in chats too; else `standalone`"]
    ready: Annotated[bool, "messages are accepted"]
    agent_id: NotRequired[str]
    uptime_seconds: NotRequired[int]
    group_enabled: NotRequired[bool]
    orchestrator_enabled: NotRequired[bool]
    model: NotRequired[Annotated[str, "the model in use, and where it was chosen"]]
    running: NotRequired[int]
    waiting: NotRequired[int]
    parked: NotRequired[int]
    halted: NotRequired[Annotated[float | None, "since when everything self-made is held (Unix seconds)"]]
    for_approval: NotRequired[int]
    for_leave: NotRequired[Annotated[int, "`for_approval`, its name until 1.0"]]
    for_answer: NotRequired[int]
    pending: NotRequired[Annotated[int, "replies that are to be sent"]]
    owed: NotRequired[Annotated[int, "`pending`, its name until 1.0"]]
    undeliverable: NotRequired[int]
    store: NotRequired[str]
    jobs: NotRequired[list[JobAnswer]]
    unaccepted: NotRequired[list[str]]


class LayerAnswer(TypedDict):
    """A layer of memory."""

    name: str
    source_prefix: str
    description: str
    ttl_days: Annotated[float, "0: its items stay"]
    chunk_count: int
    color: str


class MemoryTotals(TypedDict):
    """All layers together."""

    total_chunks: int
    max_chunks: Annotated[int, "most items of the layers that expire"]
    permanent_chunks: Annotated[int, "those that never expire; `hob memory stats` warns of more than `max_chunks`"]
    oldest: float | None
    newest: float | None


class MemoryStatusAnswer(TypedDict):
    """How much is remembered."""

    layers: list[LayerAnswer]
    totals: MemoryTotals
    led: Annotated[str, "`grey`: empty; `purple`; `amber`: more than 70 % full; `red`: more than 90 %"]
    config: dict[str, Any]


class PhoneChoice(TypedDict):
    """Where the dashboard could be open to phones."""

    at: Annotated[str, "what `dashboard.phone` would be"]
    name: Annotated[str, "by which name phones would call it"]
    problem: Annotated[str, "why it cannot be opened there now; empty where it can"]


class PhoneAnswer(TypedDict):
    """Where phones reach the dashboard."""

    wanted: Annotated[str, "the setting `dashboard.phone`"]
    address: Annotated[str, "where it is open; empty where it is not"]
    authority: Annotated[str, "the SHA-256 of the certificate that phones have to install first; empty: none"]
    problem: Annotated[str, "why it is not open where it should be"]
    choices: list[PhoneChoice]


class PhoneLinkAnswer(TypedDict):
    """A link that signs a phone's browser in, once."""

    url: str
    address: str
    qr: Annotated[list[str], "its QR code: rows of 0 (light) and 1 (dark)"]
    seconds: Annotated[float, "how long it is good"]
    authority: Annotated[str, "as in `GET`"]


class CanvasPageAnswer(TypedDict):
    """One version of a page that a session shows."""

    id: str
    name: str
    title: str
    session: str
    version: int
    at: Annotated[float, "when it was presented (Unix seconds)"]
    scripts: Annotated[bool, "they run in it"]
    hidden: bool
    html: NotRequired[Annotated[str, "what it holds; untrusted"]]
    versions: NotRequired[Annotated[list[int], "those that are kept, oldest first"]]


class CanvasAnswer(TypedDict):
    """The pages that are shown."""

    pages: list[CanvasPageAnswer]


class ConnectedAnswer(TypedDict):
    """What came of connecting a model."""

    model: str
    ok: bool
    tools: Annotated[bool | None, "whether it calls tools"]
    trouble: Annotated[str, "why not"]
    kept: Annotated[bool, "it is written down, and asked from now on"]


class TriedAnswer(TypedDict):
    """What came of trying a model."""

    model: str
    ok: bool
    tools: Annotated[bool | None, "whether it calls tools"]
    trouble: Annotated[str, "why not"]
    first: NotRequired[Annotated[float, "seconds to the first piece"]]
    seconds: NotRequired[float]
    cost: NotRequired[Annotated[int | None, "in micro-dollars"]]
    answer: NotRequired[str]


ANSWERS: Mapping[tuple[str, str], tuple[tuple[int, Any], ...]] = {
    ("GET", "/api/v1/status"): ((200, StatusAnswer),),
    ("GET", "/api/v1/phone"): ((200, PhoneAnswer),),
    ("POST", "/api/v1/phone"): ((200, PhoneLinkAnswer),),
    ("GET", "/api/v1/canvas"): ((200, CanvasAnswer),),
    ("GET", "/api/v1/canvas/{id}"): ((200, CanvasPageAnswer),),
    ("POST", "/api/v1/canvas/{id}"): ((200, CanvasPageAnswer),),
    ("POST", "/api/v1/models/connect"): ((200, ConnectedAnswer),),
    ("POST", "/api/v1/models/test"): ((200, TriedAnswer),),
    ("GET", "/api/v1/memory/status"): ((200, MemoryStatusAnswer),),
}
