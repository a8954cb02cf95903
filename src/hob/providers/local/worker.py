"""Worker process that computes embeddings, so that Hob stays responsive and gets its memory back.

Reads lines of JSON, each a list of texts, and answers each with one line. Ends with its input.
"""

import base64
import json
import os
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

MISSING = "missing"
"""Error if the library is not installed."""
NICE = 5


def main() -> int:
    """Answer requests until the input ends or the folder has no usable model; return the exit status."""
    if find_spec("numpy") is None:
        return write({"error": MISSING}, status=1)
    from hob.providers.local.bert import SentenceModel, UnsupportedModel

    os.nice(NICE)
    try:
        model = SentenceModel(Path(sys.argv[1]))
    except (UnsupportedModel, OSError) as error:
        return write({"error": str(error)}, status=1)
    answer_all(model.encode)
    return 0


def answer_all(encode: Callable[[list[str]], tuple[Any, int]]) -> None:
    """Answer each line of the input with its vectors (a numpy array) and token count."""
    for line in sys.stdin.buffer:
        vectors, tokens = encode(json.loads(line))
        packed = base64.b64encode(vectors.astype("<f4").tobytes()).decode()
        write({"vectors": packed, "dimension": vectors.shape[1], "tokens": tokens})


def write(answer: dict[str, Any], status: int = 0) -> int:
    """Write one answer and return the exit status."""
    sys.stdout.write(f"{json.dumps(answer)}\n")
    sys.stdout.flush()
    return status


if __name__ == "__main__":
    sys.exit(main())
