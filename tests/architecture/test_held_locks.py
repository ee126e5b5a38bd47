"""No lock is held while a request asks a store: in a shared thread others would wait forever.

See infra/shared_thread.py. The locks of background threads may be held: no request takes them.
"""

import ast

import pytest
from django.conf import settings

from tests.rules.texts import SOURCES

ASKING = {"redis", "answer", "answer_by_redis", "run", "fetch_all", "fetch_one", "share_exchange"}
# No quick request takes their locks: the round trip itself finds the nodes of a cluster.
BACKGROUND = {"infra/caching/cluster.py", "infra/sharding/replica.py"}


def held_calls(tree: ast.Module) -> set[str]:
    """Names of the functions that are called inside a `with` of one of the module's locks."""
    locks = {_name(target) for node in ast.walk(tree) for target in _lock_targets(node)}
    return {
        _name(call.func)
        for block in ast.walk(tree)
        if isinstance(block, ast.With)
        and any(_name(item.context_expr) in locks for item in block.items)
        for statement in block.body
        for call in ast.walk(statement)
        if isinstance(call, ast.Call)
    }


def _lock_targets(node: ast.AST) -> list[ast.expr]:
    if not isinstance(node, ast.Assign | ast.AnnAssign) or not isinstance(node.value, ast.Call):
        return []
    if _name(node.value.func) not in ("Lock", "RLock"):
        return []
    return node.targets if isinstance(node, ast.Assign) else [node.target]


def _name(node: ast.expr) -> str:
    """`run` of `run`, `redis().run` and `self.run`."""
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def test_no_store_is_asked_under_a_lock():
    paths = {str(path.relative_to(settings.BASE_DIR)): path for path in SOURCES}
    found = {
        name: sorted(calls)
        for name, path in paths.items()
        if name not in BACKGROUND and (calls := held_calls(ast.parse(path.read_text())) & ASKING)
    }
    assert found == {}


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("with self._lock:\n   redis().run([1])", {"redis", "run"}),
        ("with self._lock:\n   x = 1\nredis().run([1])", set()),
        ("with other:\n   redis().run([1])", set()),
    ],
)
def test_it_finds_such_a_call(body, expected):
    lines = "\n  ".join(body.splitlines())
    source = f"def make(self):\n  self._lock = threading.Lock()\n  {lines}\n"
    assert held_calls(ast.parse(source)) == expected
