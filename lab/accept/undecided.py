"""What the code needs a decision for, and has none: no command can write it."""

from collections import Counter
from collections.abc import Iterator

from lab.accept.functions import changed_after_migration
from lab.accept.routes import iter_operations, iter_other_paths
from lab.messages.update import missing
from lab.runner.child import CHECKOUT

ROLES = CHECKOUT / "tests/contract/role_matrix.txt"


def undecided() -> list[str]:
    """A line for each, with what to do."""
    return [
        *_without_roles(),
        *changed_after_migration(),
        *(f"not translated: {text}" for text in missing()),
    ]


def _without_roles() -> Iterator[str]:
    lines = [line.split()[:2] for line in ROLES.read_text().splitlines() if line]
    rows = Counter((verb, path) for verb, path in lines if verb.isupper() and verb != "API")
    routes = {(each.method, each.path) for each in iter_operations()}
    routes |= {("GET", path or "/") for path in iter_other_paths()}
    for method, path in sorted(routes - rows.keys()):
        yield f"{method} {path}: who may? Run tests/contract/test_role_matrix.py and check its row"
    for (method, path), count in rows.items():
        if (method, path) not in routes or count > 1:
            yield f"{method} {path}: {count} rows in {ROLES.name}, but not one route"
