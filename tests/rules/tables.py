"""An app's tables are named in that app only.

import-linter sees imports, and not SQL. So this reads every string of the product: a table's name
outside the app that owns it is a fault. The other app asks the owner's `queries/` or `sql.py`.
"""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from django.apps import apps

from tests.rules.texts import ROOT, Fault, Text, parsed

DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef)


@cache
def owners() -> dict[str, Path]:
    """The folder of the app that owns each table, by the table's name."""
    return {
        model._meta.db_table: Path(apps.get_app_config(model._meta.app_label).path)
        for model in apps.get_models(include_auto_created=True)
        if (ROOT / model.__module__.partition(".")[0]).is_dir()
    }


@cache
def _tables() -> re.Pattern[str]:
    return re.compile(r"\b(" + "|".join(sorted(owners(), key=len, reverse=True)) + r")\b")


def foreign_tables(source: Text) -> Iterator[Fault]:
    if not _tables().search(source.content):
        return
    for node in _strings_in(parsed(source.content)):
        for table in _tables().findall(str(node.value)):
            if not source.path.is_relative_to(owners()[table]):
                yield source.fault(node.lineno, f"{table} is a table of another app")


def _strings_in(tree: ast.Module) -> Iterator[ast.Constant]:
    """All strings but docstrings, which are for people."""
    documented = [one for one in ast.walk(tree) if isinstance(one, DOCUMENTED) and one.body]
    first = [one.body[0] for one in documented]
    docstrings = {id(one.value) for one in first if isinstance(one, ast.Expr)}
    for node in ast.walk(tree):
        is_text = isinstance(node, ast.Constant) and isinstance(node.value, str)
        if is_text and id(node) not in docstrings:
            yield node
