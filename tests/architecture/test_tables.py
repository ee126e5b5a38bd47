"""An app's tables are named in that app only.

import-linter sees imports, and not SQL. So this reads every string of the product: a table's name
outside the app that owns it fails. The other app asks the owner's `queries/` or `sql.py`.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.apps import apps
from django.conf import settings

from tests.architecture.test_names import SOURCES

OWNERS = {
    model._meta.db_table: Path(apps.get_app_config(model._meta.app_label).path)
    for model in apps.get_models(include_auto_created=True)
    if (settings.BASE_DIR / model.__module__.partition(".")[0]).is_dir()
}
TABLES = re.compile(r"\b(" + "|".join(sorted(OWNERS, key=len, reverse=True)) + r")\b")


def strings_in(source: str) -> Iterator[str]:
    """All strings but docstrings, which are for people."""
    tree = ast.parse(source)
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        is_text = isinstance(node, ast.Constant) and isinstance(node.value, str)
        if is_text and id(node) not in docstrings:
            yield node.value


def foreign_tables(path: Path, source: str) -> set[str]:
    named = {table for text in strings_in(source) for table in TABLES.findall(text)}
    return {table for table in named if not path.is_relative_to(OWNERS[table])}


def test_tables_are_found() -> None:
    assert {"posts_post", "relations_forwardedge", "counters_counter"} <= OWNERS.keys()
    foreign = settings.BASE_DIR / "posts/queries/example.py"
    assert foreign_tables(foreign, 'SQL = "SELECT 1 FROM relations_forwardedge"')
    assert not foreign_tables(foreign, 'SQL = "SELECT 1 FROM posts_post"')


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(settings.BASE_DIR)))
def test_tables_of_other_apps_are_not_named(path: Path) -> None:
    assert foreign_tables(path, path.read_text()) == set()
