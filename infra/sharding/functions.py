"""The functions of the database. Each app that has some keeps them in its `functions.sql`.

It is the whole present text, in the order of the write. Released migrations run copies of it:
docs/explanation/decisions/0036-a-write-is-one-function-of-the-database.md.
"""

from collections.abc import Iterable
from pathlib import Path

from django.apps import apps


def functions_of(app_label: str) -> str:
    """The statements that create all functions of an app, or replace them."""
    return Path(apps.get_app_config(app_label).path, "functions.sql").read_text()


def named_call(function: str, names: Iterable[str]) -> str:
    """`function(name := %s, …)`: the values follow in the order of these names."""
    return f"{function}({', '.join(f'{name} := %s' for name in names)})"
