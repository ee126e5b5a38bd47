"""Every text with which the code can refuse a request, found by reading the code.

A value inside a text is written as VALUE. A text that is put together in another way is not found.
"""

import ast
from collections.abc import Iterable, Iterator, Mapping
from itertools import product
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
APPS = (
    "infra", "counters", "accounts", "relations", "posts", "timelines", "notifications",
    "moderation", "integrations", "pages",
)  # fmt: skip
BASE, FAULT = "TidelineError", "Fault"
FORM = "ValidationFailed"  # its texts are those of its faults
VALUE = "7"
# Attributes of errors that are no texts, and names of headers.
NO_TEXTS = {"headers", "error", "code", "__doc__"}


class RefusedText(NamedTuple):
    """`kind`: the class of the error, or FAULT for what is wrong with a field."""

    kind: str
    module: str
    text: str


def find_refused_texts() -> list[RefusedText]:
    trees = {
        str(path.relative_to(ROOT)): ast.parse(path.read_text())
        for app in APPS
        for path in (ROOT / app).rglob("*.py")
        if "migrations" not in path.parts
    }
    kinds = _kinds(trees.values())
    return sorted({*_of_all(trees, kinds)})


def _kinds(trees: Iterable[ast.Module]) -> set[str]:
    """The names of BASE and of all classes below it."""
    bases = {
        node.name: {base.id for base in node.bases if isinstance(base, ast.Name)}
        for tree in trees
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
    }
    kinds = {BASE}
    while more := {name for name, above in bases.items() if above & kinds} - kinds:
        kinds |= more
    return kinds


def _of_all(trees: Mapping[str, ast.Module], kinds: set[str]) -> Iterator[RefusedText]:
    for module, tree in trees.items():
        names = _assigned(tree)
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef) and node.name in kinds - {FORM}:
                parts = [part for part in node.body if not _is_no_text(part)]
                found = (text for part in parts for text in _texts(part, _assigned(part)))
                yield from (RefusedText(node.name, module, text) for text in found)
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                kind = node.func.id
                is_said = kind in kinds - {FORM}
                said = node.args[2:] if kind == FAULT else node.args if is_said else []
                found = (text for part in said for text in _texts(part, names))
                yield from (RefusedText(kind, module, text) for text in found)


def _is_no_text(part: ast.stmt) -> bool:
    """Docstrings, headers, and methods that say more than the text."""
    if isinstance(part, ast.Expr):
        return True
    if isinstance(part, ast.Assign | ast.AnnAssign):
        targets = part.targets if isinstance(part, ast.Assign) else [part.target]
        return any(isinstance(target, ast.Name) and target.id in NO_TEXTS for target in targets)
    return isinstance(part, ast.FunctionDef) and part.name != "__init__"


def _assigned(tree: ast.AST) -> dict[str, list[ast.expr]]:
    """What the names of a module or a function can be."""
    values: dict[str, list[ast.expr]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    values.setdefault(target.id, []).append(node.value)
    return values


def _parts(node: ast.expr, names: Mapping[str, list[ast.expr]]) -> list[str]:
    """What a part of an f-string can be."""
    if isinstance(node, ast.Constant):
        return [str(node.value)]
    return [*_texts(node, names)] or [VALUE]


def _texts(node: ast.AST, names: Mapping[str, list[ast.expr]]) -> Iterator[str]:
    """Sentences in an expression, and in the values of its names. A word alone is no sentence."""
    if isinstance(node, ast.JoinedStr):
        for parts in product(*(_parts(part, names) for part in node.values)):
            yield from [text] if " " in (text := "".join(parts)) else []
    elif isinstance(node, ast.Constant):
        if isinstance(node.value, str) and " " in node.value.strip():
            yield node.value
    elif isinstance(node, ast.Name):
        for value in names.get(node.id, ()):
            yield from _texts(value, {})
    elif not isinstance(node, ast.FunctionDef) or node.name == "__init__":
        for child in ast.iter_child_nodes(node):
            yield from _texts(child, names)
