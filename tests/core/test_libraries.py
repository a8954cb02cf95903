"""Commands that install what is missing."""

import shlex

from hob.core.libraries import install_command


def test_extras_are_quoted_for_shells_that_expand_brackets() -> None:
    told = install_command("hob[browser]", "websockets>=15")
    assert "'hob[browser]' 'websockets>=15'" in told
    assert shlex.split(told)[-2:] == ["hob[browser]", "websockets>=15"]
