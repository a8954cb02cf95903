"""Size of the requests to the model, and the share of each that the model has seen before (billed at a tenth)."""

import json
from collections.abc import Iterator
from itertools import pairwise
from statistics import median

from benchmarks.bench import Bench
from benchmarks.rows import Row

TURNS = 30
_TEXTS = (
    "What should I cook tonight? There are eggs, leeks and half a loaf of bread.",
    "Please remind me what we said about the trip to Lisbon in May.",
    "Is it worth repairing a bicycle that is twelve years old?",
)


def measure(bench: Bench) -> Iterator[Row]:
    """Measure the size of the first request for "hi", and the share of later requests that repeats the previous one."""
    with bench.daemon(bench.home()) as daemon:
        client = daemon.client()
        bench.asked()
        client.say("hi")
        (first,) = bench.asked()
        bare = json.dumps({"model": "m", "stream": True, "messages": [{"role": "user", "content": "hi"}]})
        beside = "the same request with nothing but the message"
        yield Row('first request for "hi"', len(first) / 1000, "kB", 6.5, baseline=len(bare) / 1000, beside=beside)
        for number in range(TURNS):
            client.say(f"{_TEXTS[number % len(_TEXTS)]} ({number})", "talk")
        turns = [body for body in bench.asked() if b'"tools":' in body]  # without Hob's own requests
    known = [same_bytes(old, new) for old, new in pairwise(turns)]
    shares = [100 * same / len(new) for same, new in zip(known, turns[1:], strict=True)]
    all_of_them = 100 * sum(known) / sum(map(len, turns[1:]))
    # the new part of a request cannot be known before: the last answer and the new message
    maximum = 100 * sum(min(len(old), len(new)) for old, new in pairwise(turns)) / sum(map(len, turns[1:]))
    beside = "no request could repeat more than the one before"
    yield Row(f"known prefix over {TURNS} turns", all_of_them, "%", 90, at_least=True, baseline=maximum, beside=beside)
    yield Row("known prefix, the median turn", median(shares), "%")
    yield Row("known prefix, the worst turn", min(shares), "%")


def same_bytes(old: bytes, new: bytes) -> int:
    """Return the length of the common prefix."""
    return next((place for place, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
