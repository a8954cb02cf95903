"""The program that computes vectors: a process of its own, so that Hob waits for nothing and gets its memory back.

It takes a line of JSON (a list of texts) after the other and answers each with one. It ends with its input.
"""

import base64
import json
import os
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

MISSING = "missing"
"""The error where numpy is not installed."""
_NICE = 5


def main() -> int:
    """Answer until the input ends, or until the folder turns out to hold no model; the exit status."""
    if find_spec("numpy") is None:
        return _write({"error": MISSING}, status=1)
    from hob.providers.local.bert import ModelUnsuited, SentenceModel

    os.nice(_NICE)
    try:
        model = SentenceModel(Path(sys.argv[1]))
    except (ModelUnsuited, OSError) as error:
        return _write({"error": str(error)}, status=1)
    for line in sys.stdin.buffer:
        vectors, tokens = model.encode(json.loads(line))
        packed = base64.b64encode(vectors.astype("<f4").tobytes()).decode()
        _write({"vectors": packed, "dimension": model.dimension, "tokens": tokens})
    return 0


def _write(answer: dict[str, Any], status: int = 0) -> int:
    sys.stdout.write(f"{json.dumps(answer)}\n")
    sys.stdout.flush()
    return status


if __name__ == "__main__":
    sys.exit(main())
