"""A module decodes the replies to its own reads: it makes a Question of them.

Commands that other modules send together are writes. A reader of replies is private.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings

from tests.architecture.test_names import SOURCES

READS = {
    "EXISTS", "GET", "HGET", "HGETALL", "HLEN", "HMGET", "MGET", "PTTL", "SMEMBERS", "TTL",
    "XRANGE", "ZRANGE", "ZRANGEBYSCORE", "ZREVRANGEBYSCORE",
}  # fmt: skip
EXAMPLE = """
def size_command(week): return ("HLEN", week)
def is_too_large(replies: Replies): return replies[0] > 1
def _decode(replies: Replies): return replies[0]
def drop_command(week): return ("DEL", week)
"""


def functions_in(source: str) -> Iterator[ast.FunctionDef]:
    """Functions of the module and of its classes, which other modules can call."""
    module = ast.parse(source)
    classes = [node for node in module.body if isinstance(node, ast.ClassDef)]
    for node in [*module.body, *(node for one in classes for node in one.body)]:
        if isinstance(node, ast.FunctionDef):
            yield node


def reads_as_commands(source: str) -> Iterator[str]:
    """Functions that return commands by their name, and read."""
    for function in functions_in(source):
        words = {node.value for node in ast.walk(function) if isinstance(node, ast.Constant)}
        if function.name.endswith(("_command", "_commands")) and words & READS:
            yield function.name


def public_decoders(source: str) -> Iterator[str]:
    """Functions for other modules that take replies. `receive`: the round trip calls it."""
    for function in functions_in(source):
        types = [ast.unparse(one.annotation) for one in function.args.args if one.annotation]
        is_public = not function.name.startswith("_") and function.name != "receive"
        if is_public and "Replies" in types:
            yield function.name


def test_the_rules_find_what_they_forbid() -> None:
    assert list(reads_as_commands(EXAMPLE)) == ["size_command"]
    assert list(public_decoders(EXAMPLE)) == ["is_too_large"]


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: str(p.relative_to(settings.BASE_DIR)))
def test_a_read_is_a_question(path: Path) -> None:
    source = path.read_text()
    assert [*reads_as_commands(source), *public_decoders(source)] == []
