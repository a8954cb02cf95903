"""The program that computes vectors: a process of its own, so that Hob waits for nothing and gets its memory back.

It takes a line of JSON (a list of texts) after the other and answers each with one. It ends with its input.
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
"""The error where the library is not installed."""
NICE = 5


def main() -> int:
    """Answer until the input ends, or until the folder turns out to hold no model; the exit status."""
    if find_spec("numpy") is None:
        return write({"error": MISSING}, status=1)
    from hob.providers.local.bert import ModelUnsuited, SentenceModel

    os.nice(NICE)
    try:
        model = SentenceModel(Path(sys.argv[1]))
    except (ModelUnsuited, OSError) as error:
        return write({"error": str(error)}, status=1)
    answer_all(model.encode)
    return 0


def answer_all(encode: Callable[[list[str]], tuple[Any, int]]) -> None:
    """Each line of the input with its vectors (an array of numpy) and how many tokens they took."""
    for line in sys.stdin.buffer:
        vectors, tokens = encode(json.loads(line))
        packed = base64.b64encode(vectors.astype("<f4").tobytes()).decode()
        write({"vectors": packed, "dimension": vectors.shape[1], "tokens": tokens})


def write(answer: dict[str, Any], status: int = 0) -> int:
    """Answer one line; the exit status."""
    sys.stdout.write(f"{json.dumps(answer)}\n")
    sys.stdout.flush()
    return status


if __name__ == "__main__":
    sys.exit(main())
