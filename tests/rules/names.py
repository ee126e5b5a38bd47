"""Names that say nothing: a reader would have to look up what is in the variable."""

import ast
from collections.abc import Iterator

from tests.rules.texts import Fault, Text, parsed

VAGUE = {"found", "one", "rest", "thing"}


def vague_names(source: Text) -> Iterator[Fault]:
    for node in ast.walk(parsed(source.content)):
        name = _bound_by(node)
        if name in VAGUE:
            yield source.fault(node.lineno, f"`{name}` does not say what it is")  # type: ignore[attr-defined]


def _bound_by(node: ast.AST) -> str | None:
    """The name that this node gives a value; None: it gives none."""
    match node:
        case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
            return name
        case ast.FunctionDef(name=name) | ast.MatchAs(name=name) | ast.MatchStar(name=name):
            return name
    return None
