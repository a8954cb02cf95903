"""The budgets of statements are kept by counting, not by hand."""

from .statements import compare


def test_package_over_its_budget_is_named() -> None:
    table, over = compare({"core": 11, "store": 5}, {"core": 10, "store": 5, "total": 20})
    assert over == ["core"]
    assert [" ".join(line.split()) for line in table] == ["core 11 of 10", "store 5 of 5", "total 16 of 20"]


def test_package_without_a_budget_is_over_it() -> None:
    assert compare({"new": 1}, {"total": 1})[1] == ["new"]
