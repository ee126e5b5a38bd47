"""A module decodes the replies to its own reads: it makes a Question of them.

Commands that other modules send together are writes. A reader of replies is private.
"""

import ast
from collections.abc import Iterator

from tests.rules.texts import Fault, Text, parsed

READS = {
    "EXISTS", "GET", "HGET", "HGETALL", "HLEN", "HMGET", "MGET", "PTTL", "SMEMBERS", "TTL",
    "XRANGE", "ZRANGE", "ZRANGEBYSCORE", "ZREVRANGEBYSCORE",
}  # fmt: skip


def reads_outside_questions(source: Text) -> Iterator[Fault]:
    for function in _functions_in(parsed(source.content)):
        if _is_reading_command(function):
            yield source.fault(function.lineno, f"{function.name} reads: make a Question of it")
        if _is_public_decoder(function):
            yield source.fault(function.lineno, f"{function.name} decodes replies in public")


def _functions_in(module: ast.Module) -> Iterator[ast.FunctionDef]:
    """Functions of the module and of its classes, which other modules can call."""
    classes = [node for node in module.body if isinstance(node, ast.ClassDef)]
    for node in [*module.body, *(node for one in classes for node in one.body)]:
        if isinstance(node, ast.FunctionDef):
            yield node


def _is_reading_command(function: ast.FunctionDef) -> bool:
    if not function.name.endswith(("_command", "_commands")):
        return False
    words = {node.value for node in ast.walk(function) if isinstance(node, ast.Constant)}
    return bool(words & READS)


def _is_public_decoder(function: ast.FunctionDef) -> bool:
    """For other modules, and it takes replies. `receive`: the round trip calls it."""
    types = [ast.unparse(one.annotation) for one in function.args.args if one.annotation]
    is_public = not function.name.startswith("_") and function.name != "receive"
    return is_public and "Replies" in types
