"""Vectors from a model in a folder: without torch, without network, in a process of its own."""

import json
import math
import os
import signal
from collections.abc import AsyncIterator, Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from hob.core.errors import ModelError, ModelFault
from hob.providers.local.embedder import LocalEmbedder
from hob.providers.local.folder import ModelFolder
from hob.providers.local.wordpiece import WordPieces
from hob.providers.media.media import Media
from hob.providers.routing.choice import ModelChoice
from hob.providers.settings import ModelSettings
from hob.testing.clock import ManualClock

PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "un", "##aff", "##able", "run", "##ning", ",", "!", "cafe", "dog", "cat"]
SMALL, INNER, LAYERS = 8, 16, 2


def model_folder(folder: Path, dtype: str = "f4", **changes: Any) -> Path:
    """A model of the BERT family with a few random weights, as sentence-transformers lays it out."""
    numpy: Any = pytest.importorskip("numpy")
    draw = numpy.random.default_rng(7)
    sizes: dict[str, tuple[int, ...]] = {
        "embeddings.word_embeddings.weight": (len(PIECES), SMALL),
        "embeddings.position_embeddings.weight": (32, SMALL),
        "embeddings.token_type_embeddings.weight": (2, SMALL),
        "embeddings.LayerNorm.weight": (SMALL,),
        "embeddings.LayerNorm.bias": (SMALL,),
    }
    for layer in range(LAYERS):
        parts: dict[str, tuple[int, ...]] = {
            f"attention.self.{each}": (SMALL, SMALL) for each in ("query", "key", "value")
        }
        parts |= {"attention.output.dense": (SMALL, SMALL), "intermediate.dense": (INNER, SMALL)}
        parts |= {"output.dense": (SMALL, INNER)}
        for part, size in parts.items():
            sizes[f"encoder.layer.{layer}.{part}.weight"] = size
            sizes[f"encoder.layer.{layer}.{part}.bias"] = size[:1]
        for norm in ("attention.output.LayerNorm", "output.LayerNorm"):
            for each in ("weight", "bias"):
                sizes[f"encoder.layer.{layer}.{norm}.{each}"] = (SMALL,)
    header, data = {}, b""
    for name, size in sizes.items():
        table = draw.normal(size=size).astype(f"<{dtype}").tobytes()
        kind = {"f4": "F32", "f2": "F16"}[dtype]
        header[name] = {"dtype": kind, "shape": size, "data_offsets": [len(data), len(data) + len(table)]}
        data += table
    head = json.dumps(header).encode()
    (folder / "1_Pooling").mkdir(parents=True)
    (folder / "model.safetensors").write_bytes(len(head).to_bytes(8, "little") + head + data)
    (folder / "vocab.txt").write_text("\n".join(PIECES))
    config = {"model_type": "bert", "hidden_act": "gelu", "hidden_size": SMALL, "num_attention_heads": 2,
              "num_hidden_layers": LAYERS, "max_position_embeddings": 32} | changes  # fmt: skip
    modules = [{"path": path, "type": f"sentence_transformers.models.{name}"} for name, path in
               (("Transformer", ""), ("Pooling", "1_Pooling"), ("Normalize", "2_Normalize"))]  # fmt: skip
    written: dict[str, Any] = {
        "config.json": config, "modules.json": modules, "sentence_bert_config.json": {"max_seq_length": 16},
        "tokenizer_config.json": {"do_lower_case": True},
        "1_Pooling/config.json": {"word_embedding_dimension": SMALL, "pooling_mode_mean_tokens": True},
    }  # fmt: skip
    for name, value in written.items():
        (folder / name).write_text(json.dumps(value))
    return folder


@pytest.fixture
async def opened(tmp_path: Path) -> AsyncIterator[Callable[[Path], LocalEmbedder]]:
    made = []

    def open_embedder(folder: Path) -> LocalEmbedder:
        made.append(LocalEmbedder(folder))
        return made[-1]

    yield open_embedder
    for each in made:
        await each.aclose()


Opened = Callable[[Path], LocalEmbedder]


async def test_missing_fastembed_error_says_how_to_install_it() -> None:
    if find_spec("fastembed") is not None:
        pytest.skip("it is installed")
    settings = ModelSettings(embedding="fastembed/BAAI/bge-small-en-v1.5")
    media = Media(settings, ModelChoice(settings, {}, which=lambda _: None), ManualClock(), lambda: 0.5)
    assert media.embedder is not None
    with pytest.raises(ModelError, match=r"fastembed is not installed; .* 'hob\[fastembed\]'") as caught:
        await media.embedder.embed(["tea"])
    assert caught.value.fault is ModelFault.SETTINGS
    await media.aclose()


def test_words_are_split_into_the_longest_known_pieces() -> None:
    pieces = WordPieces({each: number for number, each in enumerate(PIECES)}, lower=True)
    known = [PIECES[number] for number in pieces.encode("Unaffable, running Café!\u200b x", 20)]
    assert known == ["[CLS]", "un", "##aff", "##able", ",", "run", "##ning", "cafe", "!", "[UNK]", "[SEP]"]
    assert len(pieces.encode("dog " * 50, 16)) == 16
    assert pieces.encode("dog " * 50, 16)[-1] == PIECES.index("[SEP]")


@pytest.mark.parametrize("dtype", ["f4", "f2"])
async def test_text_has_the_same_vector_alone_and_among_others(tmp_path: Path, opened: Opened, dtype: str) -> None:
    embedder = opened(model_folder(tmp_path / "model", dtype))
    texts = ["dog", "the cat is running, unaffable", "", "dog dog dog", "cafe\ud800"]
    together = await embedder.embed(texts)
    assert len(together.vectors) == len(texts)
    assert {len(each) for each in together.vectors} == {SMALL}
    for text, vector in zip(texts, together.vectors, strict=True):
        alone = (await embedder.embed([text])).vectors[0]
        assert alone == pytest.approx(vector, abs=1e-5)
        assert math.hypot(*vector) == pytest.approx(1.0)
    assert together.usage is not None
    assert together.usage.input == 3 + 11 + 2 + 5 + 3


async def test_gelu_matches_the_error_function() -> None:
    numpy: Any = pytest.importorskip("numpy")
    x = numpy.linspace(-6, 6, 500, dtype="f4")
    exact = [0.5 * each * (1 + math.erf(each / math.sqrt(2))) for each in x.tolist()]
    bert: Any = import_module("hob.providers.local.bert")
    assert bert._gelu(x).tolist() == pytest.approx(exact, abs=2e-6)


@pytest.mark.parametrize("change", [{"model_type": "t5"}, {"hidden_act": "relu"}, {"num_hidden_layers": 9}])
async def test_other_kind_of_model_is_refused_with_the_reason(
    tmp_path: Path, opened: Opened, change: dict[str, Any]
) -> None:
    embedder = opened(model_folder(tmp_path / "model", **change))
    with pytest.raises(ModelError, match="no sentence model") as caught:
        await embedder.embed(["dog"])
    assert caught.value.fault is ModelFault.SETTINGS


async def test_missing_folder_is_named_in_the_error(tmp_path: Path, opened: Opened) -> None:
    pytest.importorskip("numpy")
    with pytest.raises(ModelError, match="nowhere"):
        await opened(tmp_path / "nowhere").embed(["dog"])


async def test_killed_process_is_followed_by_another(tmp_path: Path, opened: Opened) -> None:
    embedder = opened(model_folder(tmp_path / "model"))
    before = await embedder.embed(["dog"])
    assert embedder._process is not None
    os.kill(embedder._process.pid, signal.SIGKILL)
    await embedder._process.wait()
    assert await embedder.embed(["dog"]) == before


async def test_folder_is_named_as_the_embedding_model_and_is_free(tmp_path: Path) -> None:
    settings = ModelSettings(embedding=str(model_folder(tmp_path / "model")))
    choice = ModelChoice(settings, {}, which=lambda _: None, is_reachable=lambda _: False)
    media = Media(settings, choice, ManualClock(), lambda: 0.5)
    try:
        assert media.embedder is not None
        assert len((await media.embedder.embed(["dog", "cat"])).vectors) == 2
        assert choice.resolve(str(choice.resolve(settings.embedding))) == choice.resolve(settings.embedding)
    finally:
        await media.aclose()


async def test_another_model_in_the_same_folder_is_noticed_and_used(tmp_path: Path) -> None:
    folder = model_folder(tmp_path / "model")
    known, embedder = ModelFolder(folder), LocalEmbedder(folder)
    first = known.version()
    try:
        before = (await embedder.embed(["dog"])).vectors
        weights = bytearray((folder / "model.safetensors").read_bytes())
        weights[-4_000:] = bytes(4_000)
        (folder / "model.safetensors").write_bytes(weights)
        assert known.version() != first
        assert (await embedder.embed(["dog"])).vectors != before
    finally:
        await embedder.aclose()
    assert ModelFolder(tmp_path / "none").version() == ""
