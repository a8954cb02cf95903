"""Prometheus's text format, version 0.0.4.

https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from hob.core.values import dataclass

PLAIN = "text/plain"
MEDIA_TYPE = f"{PLAIN}; version=0.0.4; charset=utf-8"
_DOC = str.maketrans({"\\": r"\\", "\n": r"\n"})
_LABEL = str.maketrans({"\\": r"\\", "\n": r"\n", '"': r"\""})


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric, perhaps with labels. A counter's name ends in `_total`."""

    name: str
    kind: Literal["counter", "gauge"]
    doc: str
    samples: Sequence[tuple[Mapping[str, str], float]]


def gauge(name: str, doc: str, value: float) -> Metric:
    """Return a gauge with one sample."""
    return Metric(name, "gauge", doc, (({}, value),))


def exposition(metrics: Iterable[Metric]) -> str:
    """Return the text of all metrics that have samples."""
    return "".join(line + "\n" for metric in metrics if metric.samples for line in _lines(metric))


def _lines(metric: Metric) -> Iterable[str]:
    yield f"# HELP {metric.name} {metric.doc.translate(_DOC)}"
    yield f"# TYPE {metric.name} {metric.kind}"
    for labels, value in metric.samples:
        inner = ",".join(f'{name}="{text.translate(_LABEL)}"' for name, text in labels.items())
        yield f"{metric.name}{f'{{{inner}}}' if inner else ''} {_number(value)}"


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) else repr(float(value))
