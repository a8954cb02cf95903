"""No program, however it is put together, gets past with a way out in it or breaks the check."""

import ast
import importlib
import sys

from hypothesis import given
from hypothesis import strategies as st

from hob.guard.python_allowed import ALLOWED_MODULES, FORBIDDEN_NAMES
from hob.guard.python_validator import validate

FORBIDDEN_IMPORTS = sys.stdlib_module_names - ALLOWED_MODULES.keys()
HELD = sorted(  # what modules that may be imported hold besides what may be used
    (module, name)
    for module, names in ALLOWED_MODULES.items()
    for name in dir(importlib.import_module(module))
    if name not in names and f"{module}.{name}" not in ALLOWED_MODULES and name.isidentifier()
)

WAYS_OUT = st.one_of(
    st.sampled_from(sorted(FORBIDDEN_IMPORTS)).map(lambda name: f"import {name}"),
    st.sampled_from(HELD).map(lambda held: f"import {held[0]}\n{held[0]}.{held[1]}"),
    st.sampled_from(HELD).map(lambda held: f"import {held[0]} as m; g(m.{held[1]})"),
    st.sampled_from(HELD).map(lambda held: f"from {held[0]} import {held[1]} as m"),
    st.sampled_from(sorted(ALLOWED_MODULES)).map(lambda module: f"import {module} as m; g(m)"),
    st.sampled_from(sorted(FORBIDDEN_NAMES)).map(lambda name: f"(a, {name})"),
    st.sampled_from(("__class__", "__globals__", "f_back", "gi_frame", "__subclasses__")).map(lambda n: f"a.{n}"),
    st.sampled_from(("__class__", "__globals__")).map(lambda name: f"g(a, {name!r})"),
)
FRAMES = st.sampled_from(
    (
        "if a:\n    {}\nelse:\n    b",
        "def f(x=1):\n    {}\n    return x",
        "class A:\n    {}",
        "for i in a:\n    b = i\n    {}",
        "try:\n    {}\nexcept KeyError:\n    a",
        "with a as b:\n    {}",
        "async def f():\n    {}",
        "match a:\n    case 1:\n        {}",
        "a = 1; {}",
    )
)


def wrapped(code: str, frame: str) -> str:
    line = next(line for line in frame.splitlines() if "{}" in line)
    margin = line[: len(line) - len(line.lstrip())]
    return frame.replace("{}", code.replace("\n", f"\n{margin}")) if "; {}" not in frame or "\n" not in code else code


@given(WAYS_OUT, st.lists(FRAMES, max_size=4))
def test_a_way_out_is_found_wherever_it_stands(way: str, frames: list[str]) -> None:
    code = way
    for frame in frames:
        code = wrapped(code, frame)
    ast.parse(code)
    assert validate(code)


@given(st.text(max_size=200) | st.text("import os(){}[].:_ \n\"'=af", max_size=200))
def test_no_text_breaks_the_check(source: str) -> None:
    for problem in validate(source):
        assert problem.line >= 1
