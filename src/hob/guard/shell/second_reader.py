"""A second reader of shell commands, tree-sitter's grammar, where it is installed (the extra `code`).

It says which programs a text names. What it names and our own reader did not see is something that one of the two
misread: that is never plain. Where it cannot read a text, or is not installed, it has no say.
Grammar: https://github.com/tree-sitter/tree-sitter-bash
"""

import re
from collections.abc import Collection, Iterator
from functools import cache
from typing import Any

_PLAIN = re.compile(r"[\w.+/@:-]+")
_KEYWORDS = frozenset({"time", "coproc"})  # which the grammar takes for commands
_SKIPPED = frozenset({"function_definition"})  # a function's commands count where it is called
_MOST_NODES = 20_000


def find_unseen(text: str, seen: Collection[str]) -> str:
    """The first program that the second reader names and that is not among these; empty where there is none."""
    parser = _parser()
    if parser is None:
        return ""
    tree = parser.parse(text.encode("utf-8", "replace"))
    if tree.root_node.has_error:
        return ""
    return next((name for name in _names(tree.root_node) if name not in seen), "")


def _names(root: Any) -> Iterator[str]:
    """The plain names of all commands; a name with quotes or expansions is our reader's affair."""
    nodes, left = [root], _MOST_NODES
    while nodes and left:
        node, left = nodes.pop(), left - 1
        if node.type == "command_name":
            name = node.text.decode("utf-8", "replace")
            if _PLAIN.fullmatch(name) and name not in _KEYWORDS:
                yield name
        if node.type not in _SKIPPED:
            nodes.extend(node.named_children)


@cache
def _parser() -> Any:
    try:
        import tree_sitter  # an extra: not everybody has it, and most runs read no command
        import tree_sitter_bash
    except ImportError:
        return None
    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_bash.language()))
