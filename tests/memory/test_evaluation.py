"""Recall is measured as the published sets count it, and is as good in German as in English."""

import json
import re
from pathlib import Path

import pytest

from hob.core.errors import InvalidRequest
from hob.memory.evaluation import evaluate, figures, read_labelled
from tests.memory.recorded import CORPUS, RecordedEmbedder


async def test_lexical_recall_meets_its_limits_in_both_languages() -> None:
    english, german = [(await evaluate(read_labelled(CORPUS / f"{name}.json"))).whole for name in ("en", "de")]
    assert english.questions + german.questions >= 60
    assert english.figures["R@10"] >= 0.9
    assert german.figures["R@10"] >= 0.9
    assert german.figures["R@10"] >= english.figures["R@10"] - 0.05
    assert min(english.figures["R@5"], german.figures["R@5"]) >= 0.8


async def test_hybrid_recall_meets_its_limits_in_both_languages() -> None:
    """The model is an English one."""
    read = [read_labelled(CORPUS / f"{name}.json") for name in ("en", "de")]
    english, german = [(await evaluate(each, RecordedEmbedder())).whole for each in read]
    assert english.figures["R@10"] >= 0.95
    assert german.figures["R@10"] >= english.figures["R@10"] - 0.05
    assert min(english.figures["R@20"], german.figures["R@20"]) >= 0.97


async def test_locomo_file_is_read_as_published(tmp_path: Path) -> None:
    said = [{"speaker": "Ann", "dia_id": "D1:1", "text": "I adopted a hedgehog."}]
    said.append({"speaker": "Bo", "dia_id": "D1:2", "text": "Look!", "blip_caption": "a photo of a kite"})
    asked = [
        {"question": "Which animal did Ann adopt?", "evidence": ["D1:1"], "category": 4},
        {"question": "What is in the photo?", "evidence": ["D:1:2; D1:1"], "category": 1},
        {"question": "No evidence?", "evidence": ["D9:9"], "category": 5},
    ]
    talk = {"session_1_date_time": "1:56 pm on 8 May, 2023", "session_1": said, "session_2_date_time": "x"}
    report = await evaluate(read_labelled(write(tmp_path, [{"conversation": talk, "qa": asked}])))
    assert (report.format, report.counted, report.items, report.whole.questions) == ("LoCoMo", "turn", 2, 2)
    assert report.categories["single-hop"].figures["R@5"] == 1.0
    assert report.categories["multi-hop"].figures["R@5"] == 1.0


@pytest.mark.parametrize(("marked", "counted"), [(True, "turn"), (False, "session")])
async def test_longmemeval_file_reports_how_evidence_is_counted(tmp_path: Path, marked: bool, counted: str) -> None:
    said = [{"role": "user", "content": "I moved to Bergen."}, {"role": "assistant", "content": "How nice."}]
    if marked:
        said[0]["has_answer"], said[1]["has_answer"] = True, False  # type: ignore[assignment]
    asked = {
        "question_id": "q1", "question_type": "single-session-user", "question": "Where did I move?", "answer": 3,
        "question_date": "2023/05/30 (Tue) 22:10", "haystack_dates": ["2023/05/21 (Sun) 19:50"],
        "haystack_session_ids": ["s1"], "haystack_sessions": [said], "answer_session_ids": ["s1"],
    }  # fmt: skip
    done = list[int]()
    report = await evaluate(
        read_labelled(write(tmp_path, [asked, {**asked, "question_id": "q1_abs"}])), told=done.append
    )
    assert done == [0]
    assert (report.counted, report.whole.questions, report.whole.figures["R@5"]) == (counted, 1, 1.0)


@pytest.mark.parametrize("text", ["{}", "[]", "[1]", '{"items": [], "questions": []}', "[{}]"])
def test_unknown_file_format_is_refused_with_the_known_ones(tmp_path: Path, text: str) -> None:
    file = tmp_path / "x.json"
    file.write_text(text)
    with pytest.raises(InvalidRequest, match="labelled questions"):
        read_labelled(file)
    with pytest.raises(InvalidRequest, match="cannot be read"):
        read_labelled(tmp_path / "none.json")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('{"items": [],\n oops', "is not JSON: see line 2"),
        (b"[\n\xff]", "is not JSON: see line 2"),
        (
            '{"items": [{"id": "a", "text": "x"}, {"id": "b"}], "questions": []}',
            "item 2 cannot be read (it has no text)",
        ),
        (
            '{"items": [{"id": "a", "text": "x", "at": "May"}], "questions": []}',
            "item 1 cannot be read (May is not a date)",
        ),
        (
            '{"items": [{"id": "a", "text": "x"}], "questions": [3]}',
            "question 1 cannot be read (a value has another form)",
        ),
        ('[{"conversation": {}, "qa": []}, {"conversation": {}}]', "conversation 2 cannot be read (it has no qa)"),
        ('[{"question_id": "q1_abs"}, {"question_id": "q2"}]', "question 2 cannot be read (it has no haystack_dates)"),
    ],
)
def test_unreadable_record_is_named_with_the_file(tmp_path: Path, text: str | bytes, problem: str) -> None:
    file = tmp_path / "mine.json"
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    with pytest.raises(InvalidRequest, match=re.escape(problem)) as refused:
        read_labelled(file)
    assert str(refused.value).startswith(str(file))


async def test_questions_without_evidence_are_left_out_and_counted(tmp_path: Path) -> None:
    asked = [{"question": "Where do I live?", "evidence": ["a"]}, {"question": "Who won?", "evidence": []}]
    data = {"items": [{"id": "a", "text": "I live in Bergen."}], "questions": asked}
    report = await evaluate(read_labelled(write(tmp_path, data)))
    assert (report.whole.questions, report.left_out, report.whole.figures["R@5"]) == (1, 1, 1.0)


def test_unknown_evidence_id_is_refused_and_named(tmp_path: Path) -> None:
    data = {"items": [{"id": "a", "text": "x"}], "questions": [{"question": "Who won?", "evidence": ["a", "zz"]}]}
    with pytest.raises(InvalidRequest, match="evidence zz of the question"):
        read_labelled(write(tmp_path, data))


def test_scores_of_one_question() -> None:
    told = figures(["a", "b", "c"], ["b", "z"])
    assert (told["R@5"], told["MRR"]) == (0.5, 0.5)
    assert told["NDCG@10"] == pytest.approx(0.6309 / (1 + 0.6309), abs=1e-3)
    assert figures([], ["b"])["NDCG@10"] == 0


def write(folder: Path, data: object) -> Path:
    file = folder / "labelled.json"
    file.write_text(json.dumps(data))
    return file
