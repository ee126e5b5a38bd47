"""All failpoints and branches that the product names: the literals in its calls."""

import ast
from collections.abc import Iterator
from pathlib import Path

from lab.runner.child import CHECKOUT

CALLS = ("failpoint", "reached")
APPS = (
    "infra",
    "counters",
    "accounts",
    "relations",
    "posts",
    "timelines",
    "notifications",
    "moderation",
    "integrations",
    "operations",
    "web",
    "config",
)


def find_points(checkout: Path = Path(CHECKOUT)) -> dict[str, list[str]]:
    """The places of each name, "file:line". Raises ValueError for a name that is no literal."""
    places: dict[str, list[str]] = {}
    for app in APPS:
        for path in sorted((checkout / app).rglob("*.py")):
            for name, line in _names_in(path):
                places.setdefault(name, []).append(f"{path.relative_to(checkout)}:{line}")
    return places


def _names_in(path: Path) -> Iterator[tuple[str, int]]:
    for node in ast.walk(ast.parse(path.read_text())):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name)):
            continue
        if node.func.id in CALLS and not path.match("infra/changes/failpoints.py"):
            match node.args:
                case [ast.Constant(value=str(name))]:
                    yield name, node.lineno
                case _:
                    raise ValueError(f"{path}:{node.lineno}: the name is no literal")
