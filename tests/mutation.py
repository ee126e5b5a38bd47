"""One small change in a function that a process has loaded: a mutant."""

import ast
import copy
import gc
import random
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, NamedTuple

OPPOSITES = {
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE,
    ast.GtE: ast.Gt, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
    ast.And: ast.Or, ast.Or: ast.And, ast.Add: ast.Sub, ast.Sub: ast.Add,
}  # fmt: skip


class Mutant(NamedTuple):
    """`text`: what is changed into what."""

    code: CodeType
    text: str


@contextmanager
def in_place_of(code: CodeType, mutant: Mutant) -> Iterator[None]:
    """All functions of this code are the mutant."""
    kinds = (f for f in gc.get_objects() if isinstance(f, FunctionType))
    functions = [function for function in kinds if function.__code__ is code]
    for function in functions:
        function.__code__ = mutant.code
    try:
        yield
    finally:
        for function in functions:
            function.__code__ = code


def draw_mutant(code: CodeType, chance: random.Random) -> Mutant | None:
    """None if the function has nothing that can be changed."""
    tree = ast.parse(Path(code.co_filename).read_text())
    function = next((node for node in ast.walk(tree) if _is_of(node, code)), None)
    if not isinstance(function, ast.FunctionDef):
        return None
    count = sum(len(changes_of(node)) for part in function.body for node in ast.walk(part))
    if not count:
        return None
    change = _Change(chance.randrange(count))
    function.body = [change.visit(part) for part in function.body]
    ast.fix_missing_locations(tree)
    for new in _codes(compile(tree, code.co_filename, "exec")):
        if _is_same(new, code) and new.co_freevars == code.co_freevars:
            return Mutant(new, change.text)
    return None


def changes_of(node: ast.AST) -> list[ast.AST]:
    """What could stand in the place of this node."""
    match node:
        case ast.Compare(ops=[op]) if type(op) in OPPOSITES:
            return [_with(node, ops=[OPPOSITES[type(op)]()])]
        case ast.BoolOp(op=op):
            return [_with(node, op=OPPOSITES[type(op)]()), node.values[0]]
        case ast.BinOp(op=op) if type(op) in OPPOSITES:
            return [_with(node, op=OPPOSITES[type(op)]())]
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return [operand]
        case ast.If(test=test):
            return [
                _with(node, test=ast.UnaryOp(ast.Not(), test)),
                _with(node, test=ast.Constant(False)),
            ]
        case ast.IfExp(body=body, orelse=orelse):
            return [body, orelse]
        case ast.Return(value=value) if value is not None:
            return [_with(node, value=ast.Constant(None))]
        case ast.Constant(value=bool(value)):
            return [ast.Constant(not value)]
        case ast.Constant(value=int(value)):
            return [ast.Constant(value + 1)]
        case ast.Expr(value=ast.Call()):
            return [ast.Pass()]
    return []


def _with(node: ast.AST, **fields: Any) -> ast.AST:
    changed = copy.copy(node)
    for name, value in fields.items():
        setattr(changed, name, value)
    return changed


class _Change(ast.NodeTransformer):
    """Puts the change with this number into a function."""

    def __init__(self, number: int) -> None:
        self.left, self.text = number, ""

    def visit(self, node: ast.AST) -> Any:
        for change in changes_of(node):
            if self.left == 0:
                self.left -= 1
                self.text = f"{ast.unparse(node)[:60]!r} → {ast.unparse(change)[:60]!r}"
                return ast.copy_location(change, node)
            self.left -= 1
        return self.generic_visit(node)


def _is_of(node: ast.AST, code: CodeType) -> bool:
    if not isinstance(node, ast.FunctionDef) or node.name != code.co_name:
        return False
    return min([node.lineno, *(d.lineno for d in node.decorator_list)]) == code.co_firstlineno


def _codes(code: CodeType) -> Iterator[CodeType]:
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield inner
            yield from _codes(inner)


def _is_same(one: CodeType, other: CodeType) -> bool:
    return (one.co_qualname, one.co_firstlineno) == (other.co_qualname, other.co_firstlineno)
