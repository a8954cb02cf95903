"""Making a text shorter while its beginning stays, and mostly its end."""

HEAD, TAIL = 0.7, 0.2


def shorten(text: str, limit: int) -> str:
    """At most `limit` characters: the first 70 %, the last 20 %, and between them a mark that says what is missing."""
    if len(text) <= limit:
        return text
    head, tail = int(limit * HEAD), int(limit * TAIL)
    mark = f"\n[… {len(text) - head - tail} characters left out …]\n"
    spare = limit - head - tail
    if len(mark) > spare:
        head -= len(mark) - spare
        if head < 0:
            return text[: max(0, limit)]
    return text[:head] + mark + text[len(text) - tail :]


def begin(text: str, limit: int) -> str:
    """At most `limit` characters: the first lines, and a mark that says how much is missing."""
    if len(text) <= limit:
        return text
    mark = f"\n[… {len(text)} characters in all]"
    if limit <= len(mark):
        return text[: max(0, limit)]
    kept = text[: limit - len(mark)]
    return (kept.rpartition("\n")[0].rstrip() or kept) + mark


def share(lengths: list[int], total: int) -> int:
    """The cap per text under which all of them fit into `total`: short ones stay whole, long ones become equal."""
    left, count = total, len(lengths)
    for length in sorted(lengths):
        if length * count > left:
            return left // count
        left -= length
        count -= 1
    return max(lengths, default=0)
