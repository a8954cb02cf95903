"""Worker process for models that the library `fastembed` downloads and runs with onnxruntime."""

import os
import sys
from importlib.util import find_spec

from hob.providers.local.worker import MISSING, NICE, answer_all, write


def main() -> int:
    """Answer requests until the input ends or the model cannot be used; return the exit status."""
    if find_spec("fastembed") is None:
        return write({"error": MISSING}, status=1)
    import numpy
    from fastembed import TextEmbedding

    os.nice(NICE)
    name, cache = sys.argv[1:3]
    try:
        model = TextEmbedding(name, cache_dir=cache, threads=1)
    except (ValueError, OSError) as error:  # it is unknown, or cannot be downloaded
        return write({"error": str(error)}, status=1)
    answer_all(lambda texts: (numpy.stack(list(model.embed(texts))), model.token_count(texts)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
