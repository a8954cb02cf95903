"""What generated Python may hold: modules, builtins and attributes of a list, and nothing that leads out of it.

A second layer, never the wall: in CPython nothing that runs in a process can be kept from the rest of it. What is
refused here is refused early and with a reason; what gets through still runs in the sandbox.
"""

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from hob.guard.python_allowed import ALLOWED_MODULES, FORBIDDEN_NAMES

MOST_BYTES = 64 * 1024
MOST_NESTING = 40
_MOST_PROBLEMS = 50

_HELD_WORDS = """
    os posix nt sys subprocess shutil pathlib socket ssl ctypes builtins bltns importlib inspect marshal pickle shelve
    tempfile codecs _thread threading multiprocessing asyncio gc pty runpy pkgutil linecache tokenize weakref
    """
_MODULES_HELD = frozenset(_HELD_WORDS.split())
"""Attributes of these names are modules that modules hold; no value leads to them, and if one did it is refused."""

_METHODS_WORDS = """
    system popen execv execve execvp execvpe execl execle execlp spawnl spawnv spawnve spawnvp fork forkpty
    killpg posix_spawn rmtree import_module load_module exec_module find_loader run_path run_module loads_module
    eval exec compile execfile breakpoint format format_map vformat
    """
_FORBIDDEN_METHODS = frozenset(_METHODS_WORDS.split())
"""`format` reads attributes by a text, and that may be put together."""
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
    __all__ __version__ __author__ __future__
    """
_DUNDERS = frozenset(_DUNDERS_WORDS.split())
"""Names with two underscores that only say how a class behaves."""

_CALLED_ONLY = frozenset({"getattr", "hasattr", "type"})
"""They may be called, the first two with a name that is written out, and not be given another name."""
_IDENTIFIERS = re.compile(r"\w+")
_FORMATS = frozenset({"format", "format_map"})
_DEEPEST = 3  # names in the path of a module


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

    Names count, not what they may hold. A module is no value: its name stands only before one of the names it may give.
    """
    if len(source.encode("utf-8", "replace")) > MOST_BYTES:
        return (CodeProblem("size", 1, f"it is longer than {MOST_BYTES // 1024} KB"),)
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = error.lineno or 1 if isinstance(error, SyntaxError) else 1
        return (CodeProblem("syntax", line, "it is no valid Python"),)
    modules = _modules(tree)
    found: list[CodeProblem] = []
    waiting: list[tuple[ast.AST, int]] = [(tree, 0)]
    while waiting and len(found) < _MOST_PROBLEMS:
        node, depth = waiting.pop()
        if depth > MOST_NESTING:
            found.append(CodeProblem("nesting", getattr(node, "lineno", 1), f"more than {MOST_NESTING} levels deep"))
            continue
        found.extend(_problems(node, modules))
        judged = _judged_with(node, modules)
        waiting.extend((child, depth + 1) for child in ast.iter_child_nodes(node) if child is not judged)
    return tuple(sorted(found, key=lambda problem: problem.line))


def _modules(tree: ast.AST) -> Mapping[str, str]:
    """The names that stand for modules, and for which."""
    found: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                found[alias.asname or alias.name.split(".")[0]] = (
                    alias.name if alias.asname else alias.name.split(".")[0]
                )
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                if f"{node.module}.{alias.name}" in ALLOWED_MODULES:
                    found[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    return found


def _judged_with(node: ast.AST, modules: Mapping[str, str]) -> ast.AST | None:
    """The child that was judged with its parent: what is called, or a module before the name it gives."""
    if isinstance(node, ast.Call):
        function = node.func
        if isinstance(function, ast.Name) and function.id in _CALLED_ONLY:
            return function
    if isinstance(node, ast.Attribute) and _module_of(node.value, modules):
        return node.value
    return None


def _module_of(node: ast.expr, modules: Mapping[str, str]) -> str:
    """The module that `a` or `a.b` stands for, or the package that one lies in; empty for everything else."""
    names: list[str] = []
    while isinstance(node, ast.Attribute) and len(names) < _DEEPEST:
        names.append(node.attr)
        node = node.value
    path = modules.get(node.id, "") if isinstance(node, ast.Name) else ""
    for name in reversed(names):
        path = f"{path}.{name}"
        if path not in ALLOWED_MODULES:
            return ""
    return path


def _problems(node: ast.AST, modules: Mapping[str, str]) -> Iterator[CodeProblem]:
    line = getattr(node, "lineno", 1)
    for name in _names_in(node):
        yield from _name(name, line, modules)
    match node:
        case ast.Import():
            for alias in node.names:
                yield from _import(alias.name, line)
                yield from _name(alias.asname or "", line, {})
        case ast.ImportFrom():
            yield from _import_from(node)
        case ast.Attribute():
            yield from _attribute_of(node, modules)
        case ast.MatchClass():
            yield from (problem for attribute in node.kwd_attrs for problem in _attribute(attribute, line))
        case ast.Call():
            yield from _call(node)
        case ast.keyword():
            yield from _name(node.arg or "", line, {})
        case ast.Constant() if isinstance(node.value, str):
            yield from _text(node.value, line)
        case ast.While() if _is_true(node.test) and not _leaves(node):
            yield CodeProblem("endless", line, "a loop that nothing ends")
        case _:
            return


def _names_in(node: ast.AST) -> Sequence[str]:
    """The names that this node itself mentions or makes."""
    match node:
        case ast.Name():
            return (node.id,)
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            return (node.name,)
        case ast.arg():
            return (node.arg,)
        case ast.Global() | ast.Nonlocal():
            return node.names
        case ast.ExceptHandler() | ast.MatchAs() | ast.MatchStar():
            return (node.name or "",)
        case ast.MatchMapping():
            return (node.rest or "",)
        case _:
            return ()


def _import(name: str, line: int) -> Iterator[CodeProblem]:
    if name not in ALLOWED_MODULES:
        yield CodeProblem("import", line, f"the import of {name}")


def _import_from(node: ast.ImportFrom) -> Iterator[CodeProblem]:
    module = node.module or ""
    for alias in node.names:
        name = f"{module}.{alias.name}"
        if node.level or (name not in ALLOWED_MODULES and alias.name not in ALLOWED_MODULES.get(module, ())):
            yield CodeProblem("import", node.lineno, f"the import of {'.' * node.level}{name}")
        elif alias.asname:
            yield from _name(alias.asname, node.lineno, {})


def _name(name: str, line: int, modules: Mapping[str, str]) -> Iterator[CodeProblem]:
    if name in modules:
        yield CodeProblem("module", line, f"the module {name} as a value, or its name for something else")
    elif name in FORBIDDEN_NAMES or name in _CALLED_ONLY:
        yield CodeProblem("name", line, f"the name {name}")
    else:
        yield from _dunder(name, line)


def _attribute_of(node: ast.Attribute, modules: Mapping[str, str]) -> Iterator[CodeProblem]:
    module = _module_of(node.value, modules)
    if not module:
        if node.attr not in _FORMATS or not _is_text(node.value):  # a text that is written out was looked through
            yield from _attribute(node.attr, node.lineno)
    elif not isinstance(node.ctx, ast.Load) or node.attr not in ALLOWED_MODULES.get(
        module, ()
    ):  # a module in a package has its name before it
        yield CodeProblem("attribute", node.lineno, f"{module}.{node.attr}")


def _attribute(name: str, line: int) -> Iterator[CodeProblem]:
    if name in _FRAMES or name in _FORBIDDEN_METHODS:
        yield CodeProblem("attribute", line, f"the attribute {name}")
    elif name.strip("_") in _MODULES_HELD:
        yield CodeProblem("attribute", line, f"the attribute {name}, a module that may not be imported")
    else:
        yield from _dunder(name, line)


def _dunder(name: str, line: int) -> Iterator[CodeProblem]:
    if name.startswith("__") and name.endswith("__") and len(name) > 4 and name not in _DUNDERS:
        yield CodeProblem("dunder", line, f"the name {name}")


def _call(node: ast.Call) -> Iterator[CodeProblem]:
    function = node.func
    if isinstance(function, ast.Name) and function.id in _CALLED_ONLY:
        if function.id == "type":
            if len(node.args) != 1 or node.keywords:
                yield CodeProblem("call", node.lineno, "a class made by type(...)")
        elif not _is_plain_name(node.args[1] if len(node.args) > 1 else None):
            yield CodeProblem("call", node.lineno, f"{function.id} by a name that is not written out")


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
