"""Generated Python: what leads out is refused and told, what calculates is not."""

import builtins
import importlib
import inspect
import sys

import pytest

from hob.guard.python_allowed import ALLOWED_MODULES, FORBIDDEN_NAMES
from hob.guard.python_validator import MOST_BYTES, validate

HOSTILE = """
import os
import os.path as p
from os import system
from subprocess import run as go
import importlib; importlib.import_module("os")
__import__("os").system("id")
e = eval
(lambda: exec)()("1")
open("/etc/passwd").read()
getattr(x, "__cl" + "ass__")
getattr(x, name)
g = getattr; g(x, "__globals__")
g = getattr
list(map(getattr, x, y))
().__class__.__bases__[0].__subclasses__()
"{0.__class__.__init__.__globals__}".format(x)
template.format(x)
str.format(template, x)
str.format_map("{a.__class__}", x)
def f(): f.__code__ = 1
(i for i in ()).gi_frame.f_back.f_globals
try: 1/0
type("X", (), {})
class X: __class__ = 1
from random import _os
import random; random._os.system("id")
import json; json.codecs.open("x")
import collections; collections._sys.modules
from json import *
from . import secrets
vars(x)["__builtins__"]
globals()["__builtins__"]
x.__dict__
x.__reduce__()
class A(metaclass=M): __init_subclass__ = 1
class M(type): __prepare__ = 1
def __getattr__(name): pass
import pickle
import ctypes
import socket
import urllib.request
from urllib import request
import http.client
from concurrent.futures import ThreadPoolExecutor
import hob.store
breakpoint()
x = input()
while True: pass
while 1:
match x:
async def f(): f.cr_frame
lambda __builtins__: 1
import builtins as b
from builtins import open as read
setattr(x, "a", 1)
del x.__dict__
global __builtins__
x.mro()
f(__class__=1)
print(copyright)
memoryview(b"x")
import enum; enum.bltns.exec("import os")
import enum as e; x = e
from enum import bltns
import pydoc; pydoc.pipepager("x", "id")
import tarfile; tarfile.open(n).extractall("/")
import gzip
import mailbox
import wave
import compileall
import wsgiref.simple_server
import xml.etree.ElementTree
import readline
import numpy as np
import pandas
import yaml
import string; string.Formatter().get_field("0._" + "_class_" + "_", [x], {})
from string import Formatter
list(map(str.format, ["{0._" + "_class__}"], [x]))
f = "".format; g = template.format
getattr(x, "format")
match template: case str(format=f): f(x)
import functools; functools.update_wrapper(a, b, updated=["__glo" + "bals__"])
from functools import wraps
from functools import singledispatch
from typing import get_type_hints
from dataclasses import make_dataclass
class A: __annotations__ = {"x: exec": int}
import operator; operator.attrgetter("__class__")
import uuid
import collections; collections.abc.sys
import urllib.parse; urllib.request.urlopen(x)
import urllib.parse as p; p.sys
from urllib import parse; parse.unicodedata
from json import codecs
import json; f(json)
import json; json = x
import json; del json
import json; json.loads = x
import json as eval
def f(): import math; return math
import math; (lambda math: math.x)(1)
t = type; t("X", (), {})
class M(type): pass
x.sys
x._os.name
x.eval("1")
help
"""
BENIGN = """
import json
import re, math, random, statistics, datetime
from urllib.parse import urlencode
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from __future__ import annotations
x = {"a": 1}; x.items()
print("hello {name}".format(name=1))
print(f"{x!r:>10}")
getattr(x, "name", None)
hasattr(x, "items")
type(x) is dict
def f(a, *, b=1) -> int: return a + b
class A: __slots__ = ("a",)
if __name__ == "__main__": print(1)
while True: break
x.select("a"); x.code; x.resource; x.site
text = "an operating system, __name__ and mro"
sorted(x, key=lambda k: x[k])
with lock: pass
async def f(): return await g()
[i for i in range(10) if i % 2]
import re; re.compile("a+", re.I).sub("b", text)
import collections.abc; x: collections.abc.Mapping[str, int]
import urllib.parse; urllib.parse.quote("a b")
from collections import abc; isinstance(x, abc.Mapping)
import math as m; m.sqrt(2) + m.pi
from itertools import count, islice; list(islice(count(), 3))
from functools import partial, lru_cache
from enum import Enum, auto
from io import StringIO; StringIO("a").read()
import random; random.Random(1).choice([1, 2])
"{a:>{w}}".format(a=1, w=2); " ".join(map("{:02}".format, x))
row.open + row.high; f(time=1, format="%Y")
"""
MULTI_LINE = {
    "try: 1/0": "try:\n 1/0\nexcept Exception as e:\n e.__traceback__.tb_frame",
    "while 1:": "while 1:\n for x in y:\n  break",
    "match x:": "match x:\n case A(__class__=c): pass",
    "global __builtins__": "def f():\n global __builtins__",
    "match template: case str(format=f): f(x)": "match template:\n case str(format=f): f(x)",
    "def f(): import math; return math": "def f():\n import math\n return math",
}


@pytest.mark.parametrize("code", HOSTILE.strip().splitlines())
def test_what_leads_out_is_refused(code: str) -> None:
    assert validate(MULTI_LINE.get(code, code))


@pytest.mark.parametrize("code", BENIGN.strip().splitlines())
def test_what_calculates_is_not(code: str) -> None:
    assert validate(code) == ()


@pytest.mark.parametrize("module", sorted(sys.stdlib_module_names - ALLOWED_MODULES.keys()))
def test_a_module_that_is_not_listed_is_found_in_each_way_to_import_it(module: str) -> None:
    for code in (f"import {module}", f"import json, {module} as j", f"from {module} import x", f"import {module}.y"):
        assert any(problem.rule == "import" for problem in validate(f"a = 1\n{code}\n")), code


@pytest.mark.parametrize("module", sorted(ALLOWED_MODULES))
def test_no_name_of_a_listed_module_is_a_module_or_leads_to_what_is_forbidden(module: str) -> None:
    real = importlib.import_module(module)
    for name in ALLOWED_MODULES[module]:
        value = getattr(real, name, None)
        assert value is not None, name
        assert not inspect.ismodule(value), name
        forbidden = [getattr(builtins, each) for each in FORBIDDEN_NAMES if hasattr(builtins, each)]
        assert all(value is not each for each in forbidden if callable(each)), name


def test_a_problem_tells_line_and_reason() -> None:
    (problem,) = validate("a = 1\nimport socket\n")
    assert str(problem) == "line 2: the import of socket (import)"


@pytest.mark.parametrize(
    ("source", "rule"),
    [
        ("x = 1\n" * MOST_BYTES, "size"),
        ("def f(:", "syntax"),
        ("a\0b", "syntax"),
        ("x = " + "(" * 90 + "1" + ")" * 90 + "+" + "-" * 60 + "1", "nesting"),
        ("x = " + "[" * 150 + "]" * 150, "nesting"),
    ],
)
def test_what_cannot_be_looked_through_is_refused(source: str, rule: str) -> None:
    assert {problem.rule for problem in validate(source)} == {rule}


def test_the_endless_loop_of_a_function_inside_does_not_end_the_outer_one() -> None:
    assert validate("while True:\n def f():\n  return 1\n")
    assert validate("while True:\n if x:\n  raise ValueError\n") == ()
