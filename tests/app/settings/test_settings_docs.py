"""What `hob config show` says of settings."""

import re

from hob.app.settings.sections import SECTIONS
from hob.config.fields import walk

_SAYS = {"": r"\bnot set:", 0: r"\b0\b", -1: r"-1"}


def test_setting_with_an_empty_or_zero_default_documents_it() -> None:
    silent = [
        ".".join(path)
        for path, each in walk(SECTIONS)
        if isinstance(each.default, (str, int, float))
        and not isinstance(each.default, bool)
        and each.default in _SAYS
        and not re.search(_SAYS[each.default], each.rules.doc)
    ]
    assert silent == []


def test_unset_spending_limit_documents_that_there_is_none() -> None:
    told = [each.rules.doc for path, each in walk(SECTIONS) if path[0] == "spending" and each.default is None]
    assert told
    assert all(text.endswith("not set: no limit.") for text in told)
