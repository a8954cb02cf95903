"""Retrieval scores on labelled questions: the user's own, or LoCoMo and LongMemEval as published.

No model is called. R@k is the share of a question's evidence among the first k results. Scores are averaged over the
questions of a conversation, then over the conversations.
"""

import json
import math
import re
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeVar

from hob.core.clock import SystemClock
from hob.core.errors import InvalidRequest
from hob.core.memory import Layer, MemoryItem, Scope
from hob.core.ports.media import Embedder
from hob.core.translation.language import translatable
from hob.core.trust.labels import OWNER_LABEL
from hob.core.values import dataclass
from hob.memory.embedding import MemoryEmbedder
from hob.memory.retrieval.retriever import Retriever
from hob.store.memory.items import StoredItems
from hob.store.settings import StoreSettings
from hob.store.store import open_store

METRICS: Final = ("R@5", "R@10", "R@20", "R@50", "MRR", "NDCG@10")
_DEEPEST = 50
_AT_ONCE = 100
_LOCOMO = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
_LOCOMO_TURN = re.compile(r"D:?(\d+):(\d+)")
_SESSION = re.compile(r"session_(\d+)")


@dataclass(frozen=True, slots=True)
class EvaluatedMessage:
    """A message that may contain evidence."""

    id: str
    text: str
    session: str
    at: float
    speaker: str = ""
    role: str = ""


@dataclass(frozen=True, slots=True)
class EvaluatedQuestion:
    """A question and the ids of the messages, or of the sessions, that contain its answer."""

    text: str
    evidence: frozenset[str]
    category: str
    now: float


@dataclass(frozen=True, slots=True)
class EvaluatedConversation:
    """Messages to search and the questions about them."""

    said: Sequence[EvaluatedMessage]
    questions: Sequence[EvaluatedQuestion]
    left_out: int = 0
    """Number of questions without evidence in the conversation."""


@dataclass(frozen=True, slots=True)
class Labelled:
    """Labelled questions. `counted` says whether evidence is counted by `turn` or by `session`."""

    format: str
    counted: str
    conversations: Sequence[EvaluatedConversation]
    left_out: int = 0
    """Number of questions left out because they have no evidence."""


@dataclass(frozen=True, slots=True)
class Score:
    """Scores of a set of questions, from 0 to 1."""

    questions: int
    figures: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class EvaluationReport:
    """Result of an evaluation."""

    format: str
    counted: str
    items: int
    whole: Score
    categories: Mapping[str, Score]
    left_out: int


_RECORDS = {
    "item": translatable("item"),
    "question": translatable("question"),
    "conversation": translatable("conversation"),
}
"""Records of a file, counted from 1."""
_Record = TypeVar("_Record")


class _NotADate(ValueError):
    def __init__(self, text: object) -> None:
        super().__init__(translatable("{text} is not a date", text=str(text)))


class _RecordUnreadable(Exception):
    def __init__(self, kind: str, number: int, why: str) -> None:
        super().__init__(why)
        self.kind, self.number = kind, number


def _records(kind: str, values: Iterable[Any], read: Callable[[Any], _Record]) -> list[_Record]:
    """Read each record. Raises _RecordUnreadable."""
    found = list[_Record]()
    for number, value in enumerate(values, 1):
        try:
            found.append(read(value))
        except KeyError as error:
            raise _RecordUnreadable(
                kind, number, translatable("it has no {field}", field=str(error.args[0]))
            ) from error
        except (ValueError, TypeError, IndexError, AttributeError) as error:
            why = str(error) if isinstance(error, _NotADate) else translatable("a value has another form")
            raise _RecordUnreadable(kind, number, why) from error
    return found


def read_labelled(path: Path) -> Labelled:
    """Read labelled questions from a file. Raises InvalidRequest for an unknown format."""
    try:
        data = json.loads(path.read_text("utf-8"))
        labelled = _read(data)
    except OSError as error:
        raise InvalidRequest(translatable("{path} cannot be read: {error}", path=path, error=error.strerror)) from error
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        line = (
            error.lineno if isinstance(error, json.JSONDecodeError) else error.object.count(b"\n", 0, error.start) + 1
        )
        raise InvalidRequest(translatable("{path} is not JSON: see line {line}", path=path, line=str(line))) from error
    except _RecordUnreadable as error:
        where = _RECORDS[error.kind]
        raise InvalidRequest(
            translatable(
                "{path}: {record} {number} cannot be read ({error}); docs/how-to/measure-recall.md shows the formats",
                path=path,
                record=where,
                number=str(error.number),
                error=str(error),
            )
        ) from error
    except (ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
        raise InvalidRequest(
            translatable(
                "{path} holds no labelled questions. Known are LoCoMo, LongMemEval and a JSON object with `items` and"
                " `questions`; see docs/how-to/measure-recall.md.",
                path=path,
            )
        ) from error
    return labelled


def _read(data: Any) -> Labelled:
    if isinstance(data, dict):
        plain = _plain(data)
        return Labelled("plain", "turn", [plain], plain.left_out)
    if "conversation" in data[0]:
        read = _records("conversation", data, _locomo)
        return Labelled("LoCoMo", "turn", read, sum(each.left_out for each in read))
    if "question_id" not in data[0]:
        raise ValueError("unknown format")
    talks = (talk for each in data if _is_answered(each) for talk in each.get("haystack_sessions", ()))
    by_turn = any(turn.get("has_answer") for talk in talks for turn in talk)
    read = [each for each in _records("question", data, partial(_longmemeval, by_turn=by_turn)) if each.said]
    unasked = len(data) - sum(len(each.questions) for each in read)
    return Labelled("LongMemEval", "turn" if by_turn else "session", read, unasked)


def _plain(data: Mapping[str, Any]) -> EvaluatedConversation:
    said = _records("item", data["items"], _plain_item)
    last = max(each.at for each in said)
    questions = _records("question", data["questions"], partial(_plain_question, last=last))
    known = {each.id for each in said}
    for question in questions:
        if unknown := sorted(question.evidence - known):
            told = translatable(
                "the evidence {id} of the question \u201c{question}\u201d is the id of no item",
                id=unknown[0],
                question=question.text,
            )
            raise InvalidRequest(told)
    asked = [question for question in questions if question.evidence]
    return EvaluatedConversation(said, asked, len(questions) - len(asked))


def _plain_item(each: Mapping[str, Any]) -> EvaluatedMessage:
    return EvaluatedMessage(
        id=str(each["id"]), text=str(each["text"]), session=str(each.get("session", "")),
        at=_moment(each.get("at", "1970-01-01")), speaker=str(each.get("speaker", "")), role=str(each.get("role", "")),
    )  # fmt: skip


def _plain_question(each: Mapping[str, Any], last: float) -> EvaluatedQuestion:
    return EvaluatedQuestion(
        text=str(each["question"]), evidence=frozenset(map(str, each["evidence"])),
        category=str(each.get("category", "all")), now=_moment(each["now"]) if "now" in each else last,
    )  # fmt: skip


def _locomo(data: Mapping[str, Any]) -> EvaluatedConversation:
    talk = data["conversation"]
    sessions = sorted((key for key in talk if _SESSION.fullmatch(key)), key=lambda key: int(key.split("_")[1]))
    said = []
    for session in sessions:
        at = _date(talk[f"{session}_date_time"].replace(",", ""), "%I:%M %p on %d %B %Y")
        for turn in talk[session]:
            picture = f" [image: {turn['blip_caption']}]" if turn.get("blip_caption") else ""
            said.append(EvaluatedMessage(turn["dia_id"], turn["text"] + picture, session, at, turn["speaker"], "user"))
    known = {each.id for each in said}
    questions = []
    for asked in data["qa"]:
        turns = [f"D{int(a)}:{int(b)}" for each in asked.get("evidence", ()) for a, b in _LOCOMO_TURN.findall(each)]
        if evidence := known.intersection(turns):
            questions.append(
                EvaluatedQuestion(asked["question"], frozenset(evidence), _LOCOMO[asked["category"]], said[-1].at)
            )
    return EvaluatedConversation(said, questions, len(data["qa"]) - len(questions))


def _is_answered(data: Mapping[str, Any]) -> bool:
    """Return whether a question of LongMemEval has an answer; some ask for what was never said."""
    return not str(data.get("question_id", "")).endswith("_abs")


def _longmemeval(data: Mapping[str, Any], by_turn: bool) -> EvaluatedConversation:
    if not _is_answered(data):
        return EvaluatedConversation([], [])
    said, evidence = [], set()
    talks = zip(data["haystack_dates"], data["haystack_session_ids"], data["haystack_sessions"], strict=True)
    for date, session, turns in sorted(talks, key=lambda talk: _longmemeval_date(talk[0])):
        for number, turn in enumerate(turns):
            if turn["content"].strip():
                id, role = f"{session}#{number}", turn["role"]
                said.append(EvaluatedMessage(id, turn["content"], session, _longmemeval_date(date), role, role))
                if turn.get("has_answer"):
                    evidence.add(id)
    wanted = evidence if by_turn else set(data["answer_session_ids"])
    asked = EvaluatedQuestion(
        data["question"], frozenset(wanted), data["question_type"], _longmemeval_date(data["question_date"])
    )
    return EvaluatedConversation(said, [asked] if wanted else [])


def _longmemeval_date(text: str) -> float:
    return _date(re.sub(r"\s*\(\w+\)", "", text), "%Y/%m/%d %H:%M")


def _date(text: str, form: str) -> float:
    try:
        return datetime.strptime(text, form).replace(tzinfo=UTC).timestamp()
    except ValueError:
        raise _NotADate(text) from None


def _moment(text: Any) -> float:
    try:
        moment = datetime.fromisoformat(str(text))
    except ValueError:
        raise _NotADate(text) from None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


async def evaluate(
    labelled: Labelled, embedder: Embedder | None = None, told: Callable[[int], None] = lambda _: None
) -> EvaluationReport:
    """Store the messages in a temporary store, ask the questions and score the results; with an embedder, also by
    meaning.

    `told` receives the number of finished conversations. Raises StoreErrors, and ModelError if the embedder fails.
    """
    with tempfile.TemporaryDirectory(prefix="hob-eval-") as home:
        async with open_store(Path(home), StoreSettings(), clock := SystemClock()) as store:
            meaning = MemoryEmbedder(embedder, "", "evaluated", store.memory_vectors, clock) if embedder else None
            return await _evaluate(labelled, store.items, Retriever(store.memory_index, meaning), meaning, told)


async def _evaluate(
    labelled: Labelled,
    items: StoredItems,
    retriever: Retriever,
    meaning: MemoryEmbedder | None,
    told: Callable[[int], None],
) -> EvaluationReport:
    means: list[Mapping[str, float]] = []
    categories: defaultdict[str, list[Mapping[str, float]]] = defaultdict(list)
    count = 0
    for number, conversation in enumerate(labelled.conversations):
        told(number)
        scope = Scope(f"conversation {number}")
        kept = [_item(each, place, scope) for place, each in enumerate(conversation.said)]
        for start in range(0, len(kept), _AT_ONCE):
            await items.add(kept[start : start + _AT_ONCE])
        count += len(kept)
        while meaning is not None and await meaning.embed_some():
            continue
        counted = []
        for question in conversation.questions:
            found = await retriever.search(question.text, scope=scope, now=question.now, limit=_DEEPEST)
            ids = (_found_id(each.item, labelled.counted) for each in found)
            counted.append(figures(list(dict.fromkeys(ids)), question.evidence))
            categories[question.category].append(counted[-1])
        if counted:
            means.append(_mean(counted))
    by_category = {name: Score(len(each), _mean(each)) for name, each in sorted(categories.items())}
    asked = sum(score.questions for score in by_category.values())
    return EvaluationReport(
        labelled.format, labelled.counted, count, Score(asked, _mean(means)), by_category, labelled.left_out
    )


def _item(said: EvaluatedMessage, place: int, scope: Scope) -> MemoryItem:
    return MemoryItem(
        scope=scope, layer=Layer.CONVERSATION, source=f"{Layer.CONVERSATION}:labelled", text=said.text,
        label=OWNER_LABEL, at=said.at, session=said.session, position=place, turn=said.id, speaker=said.speaker,
        role=said.role,
    )  # fmt: skip


def _found_id(item: MemoryItem, counted: str) -> str:
    return item.turn if counted == "turn" else item.session


def figures(found: Sequence[str], evidence: Iterable[str]) -> dict[str, float]:
    """Score the results of one question, best first, against its evidence."""
    wanted = frozenset(evidence)
    hits = [each in wanted for each in found]
    told = {f"R@{k}": sum(hits[:k]) / len(wanted) for k in (5, 10, 20, 50)}
    told["MRR"] = next((1 / rank for rank, hit in enumerate(hits, 1) if hit), 0.0)
    ideal = sum(1 / math.log2(rank + 1) for rank in range(1, min(10, len(wanted)) + 1))
    told["NDCG@10"] = sum(hit / math.log2(rank + 1) for rank, hit in enumerate(hits[:10], 1)) / ideal
    return told


def _mean(counted: Sequence[Mapping[str, float]]) -> dict[str, float]:
    return {name: sum(each[name] for each in counted) / max(1, len(counted)) for name in METRICS}
