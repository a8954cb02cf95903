"""The table of figures."""

from benchmarks.rows import Row, render


def test_figure_at_its_limit_holds_and_one_beyond_does_not() -> None:
    assert Row("a", 15.0, "ms", 15).holds
    assert not Row("a", 15.1, "ms", 15).holds
    assert not Row("a", 59.0, "/s", 60, at_least=True).holds
    assert Row("a", 1e9, "ms").holds


def test_missed_limit_is_seen_in_the_table() -> None:
    good, bad = render([Row("a", 1.0, "ms", 2), Row("b", 3.0, "ms", 2)], colour=False).splitlines()[1:]
    assert "holds" in good
    assert "MISSED" in bad


def test_ratio_is_to_the_baseline() -> None:
    row = Row("a", 3.0, "ms", baseline=2.0, beside="nothing")
    assert row.ratio == 1.5
    assert row.view()["ratio"] == 1.5
    assert Row("a", 3.0, "ms", baseline=0.0).ratio is None


def test_columns_are_aligned() -> None:
    rows = [Row("a", 1.0, "ms", 2), Row("a much longer name", 12_345.0, "ms", 20_000)]
    lines = render(rows, colour=False).splitlines()
    assert len({line.index("ms") for line in lines[1:]}) == 1
