"""BERT-family sentence models computed with numpy: no torch, no network.

Reads a folder in the layout of sentence-transformers (`modules.json`, `config.json`, `vocab.txt`, `model.safetensors`).
The weights stay in the file and are memory-mapped.
Formats: https://sbert.net/docs/package_reference/sentence_transformer/models.html and
https://github.com/huggingface/safetensors#format
"""

import json
import math
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from hob.providers.local.wordpiece import WordPieces

numpy: Any = import_module("numpy")

_TYPES = {"F32": "<f4", "F16": "<f2"}
_SQRT_HALF = math.sqrt(0.5)
_ERFC = (0.254829592, -0.284496736, 1.421413741, -1.453152027, 1.061405429)
"""Abramowitz and Stegun 7.1.26: the complementary error function to 1.5e-7."""
_ERFC_P = 0.3275911


class UnsupportedModel(Exception):
    """The folder contains no supported model."""


class SentenceModel:
    """Turns texts into vectors of unit length."""

    def __init__(self, folder: Path) -> None:
        """Load the model. Raises UnsupportedModel, OSError."""
        try:
            config, shape = _json(folder / "config.json"), _json(folder / "sentence_bert_config.json")
            pooling = _uses_mean_pooling(folder)
            words = _json(folder / "tokenizer_config.json") if (folder / "tokenizer_config.json").exists() else {}
            lines = (folder / "vocab.txt").read_text("utf-8").splitlines()
            self._pieces = WordPieces({each: n for n, each in enumerate(lines)}, lower=words.get("do_lower_case", True))
            self._heads, self._layers = config["num_attention_heads"], config["num_hidden_layers"]
            self._epsilon = config.get("layer_norm_eps", 1e-12)
            self.dimension = config["hidden_size"]
            self.longest = min(shape["max_seq_length"], config["max_position_embeddings"])
            _check_config(config)
            self._weights = _load_weights(folder / "model.safetensors")
            self._mean = pooling
            self._layer_names = [f"encoder.layer.{number}." for number in range(self._layers)]
            self._weights[f"{self._layer_names[-1]}output.dense.weight"]
        except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
            raise UnsupportedModel(f"{folder} holds no sentence model that Hob can read: {error!r}") from error

    def encode(self, texts: Sequence[str]) -> tuple[Any, int]:
        """Return a row of numbers per text, and the number of tokens."""
        rows = [self._pieces.encode(text, self.longest) for text in texts]
        lengths = [len(row) for row in rows]
        starts = numpy.cumsum([0, *lengths])
        spans = list(zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True))
        weights = self._weights
        states = weights["embeddings.word_embeddings.weight"][numpy.concatenate(rows)].astype("f4")
        states += weights["embeddings.position_embeddings.weight"][numpy.concatenate([*map(numpy.arange, lengths)])]
        states += weights["embeddings.token_type_embeddings.weight"][0]
        states = self._normed(states, "embeddings.LayerNorm.")
        for name in self._layer_names:
            states = self._layer(states, name, spans)
        if self._mean:
            found = numpy.add.reduceat(states, starts[:-1]) / numpy.asarray(lengths, "f4")[:, None]
        else:
            found = states[starts[:-1]]
        return found / numpy.linalg.norm(found, axis=1, keepdims=True), sum(lengths)

    def _layer(self, states: Any, name: str, spans: Sequence[tuple[int, int]]) -> Any:
        """Apply a layer: weights to all texts at once, attention to each text alone, so nothing is padded."""
        asked, keys, values = (
            self._dense(states, f"{name}attention.self.{each}.") for each in ("query", "key", "value")
        )
        seen = numpy.empty_like(states)
        width = self.dimension // self._heads
        for start, end in spans:
            q, k, v = (
                each[start:end].reshape(-1, self._heads, width).transpose(1, 0, 2) for each in (asked, keys, values)
            )
            weights = q @ k.transpose(0, 2, 1) / numpy.float32(math.sqrt(width))
            weights = numpy.exp(weights - weights.max(axis=-1, keepdims=True))
            weights /= weights.sum(axis=-1, keepdims=True)
            seen[start:end] = (weights @ v).transpose(1, 0, 2).reshape(end - start, -1)
        states = self._normed(
            states + self._dense(seen, f"{name}attention.output.dense."), f"{name}attention.output.LayerNorm."
        )
        inner = _gelu(self._dense(states, f"{name}intermediate.dense."))
        return self._normed(states + self._dense(inner, f"{name}output.dense."), f"{name}output.LayerNorm.")

    def _dense(self, states: Any, name: str) -> Any:
        return states @ self._weights[f"{name}weight"].T + self._weights[f"{name}bias"]

    def _normed(self, states: Any, name: str) -> Any:
        states = states - states.mean(axis=1, keepdims=True)
        scale = numpy.sqrt(numpy.square(states).mean(axis=1, keepdims=True) + self._epsilon)
        return states / scale * self._weights[f"{name}weight"] + self._weights[f"{name}bias"]


def _gelu(x: Any) -> Any:
    """Return x times the cumulative normal distribution of x."""
    size = numpy.abs(x)
    t = 1 / (1 + numpy.float32(_ERFC_P * _SQRT_HALF) * size)
    tail = numpy.full_like(t, _ERFC[-1])
    for factor in _ERFC[-2::-1]:
        tail *= t
        tail += numpy.float32(factor)
    tail *= t
    tail *= numpy.exp(numpy.square(size) * numpy.float32(-0.5))
    tail *= size
    tail *= numpy.float32(0.5)
    return numpy.maximum(x, 0) - tail


def _json(path: Path) -> Mapping[str, Any]:
    found: Mapping[str, Any] = json.loads(path.read_text("utf-8"))
    return found


def _check_config(config: Mapping[str, Any]) -> None:
    """Raise ValueError unless it is a plain BERT."""
    for name, wanted in (("model_type", "bert"), ("hidden_act", "gelu"), ("position_embedding_type", "absolute")):
        if config.get(name, wanted) != wanted:
            raise ValueError(f"{name} is {config[name]}, not {wanted}")


def _uses_mean_pooling(folder: Path) -> bool:
    """Whether the vector of a text is the mean of its tokens, not the first one. Raises ValueError if neither."""
    modules: Any = _json(folder / "modules.json")
    kinds = [each["type"].rpartition(".")[2] for each in modules]
    if kinds not in (["Transformer", "Pooling"], ["Transformer", "Pooling", "Normalize"]) or modules[0]["path"]:
        raise ValueError(f"its modules are {', '.join(kinds)}")
    chosen = {name for name, on in _json(folder / modules[1]["path"] / "config.json").items() if on is True}
    chosen = {name for name in chosen if name.startswith("pooling_mode")}
    if chosen not in ({"pooling_mode_mean_tokens"}, {"pooling_mode_cls_token"}):
        raise ValueError(f"it pools by {', '.join(sorted(chosen))}")
    return "pooling_mode_mean_tokens" in chosen


def _load_weights(path: Path) -> dict[str, Any]:
    """Return the tensors of a safetensors file, with 16-bit ones converted to 32 bits."""
    with path.open("rb") as file:
        size = int.from_bytes(file.read(8), "little")
        if size > path.stat().st_size:
            raise ValueError(f"{path.name} is damaged")
        header = json.loads(file.read(size))
    data = numpy.memmap(path, mode="r", offset=8 + size)
    found = {}
    for name, told in header.items():
        if name == "__metadata__" or told["dtype"] not in _TYPES:
            continue
        first, last = told["data_offsets"]
        table = data[first:last].view(_TYPES[told["dtype"]]).reshape(told["shape"])
        found[name.removeprefix("bert.")] = table if table.dtype == "f4" else table.astype("f4")
    return found
