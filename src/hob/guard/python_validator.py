"""What generated Python may not contain: imports, calls and attributes that lead out of it.

A second layer, never the wall: in CPython nothing that runs in a process can be kept from the rest of it. What is
refused here is refused early and with a reason; what gets through still runs in the sandbox.
"""

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

MOST_BYTES = 64 * 1024
MOST_NESTING = 40
_MOST_PROBLEMS = 50

_IMPORTS_WORDS = """
    os posix nt sys subprocess shutil pathlib socket _socket socketserver ssl select selectors asyncio
    multiprocessing threading _thread concurrent signal pty tty fcntl termios resource ctypes _ctypes cffi mmap
    gc inspect importlib imp runpy pkgutil zipimport zipapp code codeop builtins __builtin__ __builtins__
    __main__ marshal pickle _pickle cPickle dill shelve jsonpickle cloudpickle joblib copyreg dbm telnetlib
    ftplib smtplib poplib imaplib nntplib http urllib urllib2 urllib3 httplib xmlrpc requests httpx httpx2
    aiohttp websockets paramiko pexpect ptyprocess tempfile glob fileinput sqlite3 apsw winreg msvcrt _winapi
    pip ensurepip venv virtualenv site sysconfig webbrowser antigravity turtle tkinter idlelib faulthandler
    trace tracemalloc pdb bdb cProfile profile timeit doctest unittest pytest linecache tokenize lib2to3
    distutils setuptools pkg_resources commands popen2 platform pwd grp spwd crypt syslog weakref types _io io
    codecs ast dis symtable opcode operator sched atexit logging configparser netrc hob
    """
FORBIDDEN_IMPORTS = frozenset(_IMPORTS_WORDS.split())
"""Modules, with all below them, that reach files, processes, the network, the interpreter or Hob itself."""

ALLOWED_BELOW = frozenset({"urllib.parse", "http.HTTPStatus", "concurrent.futures.Future"})
"""What is harmless below a forbidden name."""

_NAMES_WORDS = """
    eval exec compile __import__ open input breakpoint globals locals vars dir memoryview help exit quit
    copyright credits license delattr setattr __builtins__ __loader__ __spec__ __build_class__ __debug__ reload
    execfile
    """
FORBIDDEN_NAMES = frozenset(_NAMES_WORDS.split())
"""Names that are not even mentioned: what may be mentioned may be called under another name."""

_METHODS_WORDS = """
    system popen execv execve execvp execvpe execl execle execlp spawnl spawnv spawnve spawnvp fork forkpty
    killpg posix_spawn rmtree import_module load_module exec_module find_loader run_path run_module loads_module
    """
_FORBIDDEN_METHODS = frozenset(_METHODS_WORDS.split())
_FRAMES_WORDS = """
    gi_frame gi_code gi_yieldfrom cr_frame cr_code cr_await cr_origin ag_frame ag_code ag_await tb_frame tb_next
    tb_lasti f_back f_globals f_locals f_builtins f_code f_trace co_code co_consts func_globals func_code
    func_closure im_func im_self im_class mro
    """
_FRAMES = frozenset(_FRAMES_WORDS.split())
_DUNDERS_WORDS = """
    __init__ __name__ __len__ __repr__ __str__ __eq__ __ne__ __lt__ __le__ __gt__ __ge__ __hash__ __bool__
    __iter__ __next__ __contains__ __getitem__ __setitem__ __add__ __sub__ __mul__ __truediv__ __floordiv__
    __mod__ __neg__ __abs__ __radd__ __rmul__ __enter__ __exit__ __call__ __post_init__ __slots__ __doc__
    __all__ __version__ __author__ __future__ __annotations__
    """
_DUNDERS = frozenset(_DUNDERS_WORDS.split())
"""Names with two underscores that only say how a class behaves."""

_BY_NAME = frozenset({"getattr", "hasattr"})
"""They may be called, with a name that is written out, and not be given another name."""
_IDENTIFIERS = re.compile(r"\w+")
_FORMATS = frozenset({"format", "format_map", "vformat"})


@dataclass(frozen=True, slots=True)
class CodeProblem:
    """One thing that may not be there, with the line it stands in."""

    rule: str
    line: int
    what: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.what} ({self.rule})"


def validate(source: str) -> tuple[CodeProblem, ...]:
    """Everything that is wrong with this program, in its order; nothing if it may run in the sandbox. Never raises.

    Names count, not what they may hold: the check is wrong only on the safe side.
    """
    if len(source.encode("utf-8", "replace")) > MOST_BYTES:
        return (CodeProblem("size", 1, f"it is longer than {MOST_BYTES // 1024} KB"),)
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = error.lineno or 1 if isinstance(error, SyntaxError) else 1
        return (CodeProblem("syntax", line, "it is no valid Python"),)
    found: list[CodeProblem] = []
    waiting: list[tuple[ast.AST, int]] = [(tree, 0)]
    while waiting and len(found) < _MOST_PROBLEMS:
        node, depth = waiting.pop()
        if depth > MOST_NESTING:
            found.append(CodeProblem("nesting", getattr(node, "lineno", 1), f"more than {MOST_NESTING} levels deep"))
            continue
        found.extend(_problems(node))
        waiting.extend(
            (child, depth + 1) for child in ast.iter_child_nodes(node) if not _is_called_by_name(node, child)
        )
    return tuple(sorted(found, key=lambda problem: problem.line))


def _problems(node: ast.AST) -> Iterator[CodeProblem]:
    line = getattr(node, "lineno", 1)
    for name in _names_in(node):
        yield from _name(name, line)
    match node:
        case ast.Import():
            for alias in node.names:
                yield from _import(alias.name, line)
        case ast.ImportFrom():
            yield from _import_from(node)
        case ast.Attribute():
            yield from _attribute(node.attr, line)
        case ast.MatchClass():
            yield from (problem for attribute in node.kwd_attrs for problem in _attribute(attribute, line))
        case ast.Call():
            yield from _call(node)
        case ast.Constant() if isinstance(node.value, str):
            yield from _text(node.value, line)
        case ast.While() if _is_true(node.test) and not _leaves(node):
            yield CodeProblem("endless", line, "a loop that nothing ends")
        case _:
            return


def _is_called_by_name(node: ast.AST, child: ast.AST) -> bool:
    """Whether the child is the function of this call and judged with it."""
    return isinstance(node, ast.Call) and node.func is child and isinstance(child, ast.Name) and child.id in _BY_NAME


def _names_in(node: ast.AST) -> Sequence[str]:
    """The names that this node itself mentions or makes."""
    match node:
        case ast.Name():
            return (node.id,)
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            return (node.name,)
        case ast.arg() | ast.keyword():
            return (node.arg or "",)
        case ast.alias():
            return (node.asname or "",)
        case ast.Global() | ast.Nonlocal():
            return node.names
        case ast.ExceptHandler() | ast.MatchAs() | ast.MatchStar():
            return (node.name or "",)
        case ast.MatchMapping():
            return (node.rest or "",)
        case _:
            return ()


def _import(name: str, line: int) -> Iterator[CodeProblem]:
    if name in ALLOWED_BELOW:
        return
    if name.split(".")[0] in FORBIDDEN_IMPORTS:
        yield CodeProblem("import", line, f"the import of {name}")
    yield from (problem for part in name.split(".") for problem in _dunder(part, line))


def _import_from(node: ast.ImportFrom) -> Iterator[CodeProblem]:
    module = node.module or ""
    if node.level:
        yield CodeProblem("import", node.lineno, "an import from beside it")
    for alias in node.names:
        if alias.name == "*":
            yield CodeProblem("import", node.lineno, "an import of everything")
        elif f"{module}.{alias.name}" not in ALLOWED_BELOW:
            yield from _import(module, node.lineno)
            if module.split(".")[0] not in FORBIDDEN_IMPORTS or module in ALLOWED_BELOW:
                # a harmless module may hold a dangerous one: `from random import _os`
                yield from _held(alias.name, node.lineno)


def _held(name: str, line: int) -> Iterator[CodeProblem]:
    if name.lstrip("_") in FORBIDDEN_IMPORTS or name in FORBIDDEN_NAMES or name.startswith("_"):
        yield CodeProblem("import", line, f"the import of {name}")


def _name(name: str, line: int) -> Iterator[CodeProblem]:
    if name in FORBIDDEN_NAMES or name in _BY_NAME:
        yield CodeProblem("name", line, f"the name {name}")
    else:
        yield from _dunder(name, line)


def _attribute(name: str, line: int) -> Iterator[CodeProblem]:
    """`random._os` and `json.codecs` lead to modules that may not be imported."""
    if name in _FRAMES or name in _FORBIDDEN_METHODS:
        yield CodeProblem("attribute", line, f"the attribute {name}")
    elif name in _MODULES_HELD or (name.startswith("_") and name.strip("_") in FORBIDDEN_IMPORTS):
        yield CodeProblem("attribute", line, f"the attribute {name}, a module that may not be imported")
    else:
        yield from _dunder(name, line)


_ORDINARY = "code commands http select types trace site resource glob platform signal profile operator io requests"
_MODULES_HELD = FORBIDDEN_IMPORTS - frozenset(_ORDINARY.split())
"""Attributes of these names are modules; the rest are also ordinary words, and no module leads to them."""


def _dunder(name: str, line: int) -> Iterator[CodeProblem]:
    if name.startswith("__") and name.endswith("__") and len(name) > 4 and name not in _DUNDERS:
        yield CodeProblem("dunder", line, f"the name {name}")


def _call(node: ast.Call) -> Iterator[CodeProblem]:
    function = node.func
    if isinstance(function, ast.Name):
        if function.id in _BY_NAME and not _is_plain_name(node.args[1] if len(node.args) > 1 else None):
            yield CodeProblem("call", node.lineno, f"{function.id} by a name that is not written out")
        elif function.id == "type" and (len(node.args) != 1 or node.keywords):
            yield CodeProblem("call", node.lineno, "a class made by type(...)")
    elif isinstance(function, ast.Attribute) and function.attr in _FORMATS and not _is_text(function.value):
        yield CodeProblem("call", node.lineno, f"{function.attr} on a text that is not written out")


def _is_plain_name(node: ast.expr | None) -> bool:
    if not (isinstance(node, ast.Constant) and isinstance(node.value, str)):
        return False
    return not node.value.startswith("_") and not list(_attribute(node.value, 1))


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _text(value: str, line: int) -> Iterator[CodeProblem]:
    """Texts that name what leads out, e.g. `"{0.__class__}"` or the second argument of a renamed getattr."""
    for name in _IDENTIFIERS.findall(value):
        frame = name in _FRAMES and "_" in name
        if frame or (name != "__main__" and list(_dunder(name, line))):
            yield CodeProblem("text", line, f"a text with {name}")


def _is_true(test: ast.expr) -> bool:
    return isinstance(test, ast.Constant) and bool(test.value)


def _leaves(loop: ast.While) -> bool:
    """Whether something in the loop ends it: a break of its own, a return or a raise."""
    waiting: list[tuple[ast.AST, bool]] = [(each, True) for each in loop.body]
    while waiting:
        node, own = waiting.pop()
        if isinstance(node, ast.Return | ast.Raise) or (own and isinstance(node, ast.Break)):
            return True
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            continue
        inner = own and not isinstance(node, ast.For | ast.AsyncFor | ast.While)
        waiting.extend((child, inner) for child in ast.iter_child_nodes(node))
    return False
