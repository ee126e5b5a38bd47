"""The registry of periodic tasks, and the table that is made of it."""

import ast
from pathlib import Path

from django.conf import settings

from config.periodic import PERIODIC_TASKS
from lab.reference.tasks import task_rows

NOT_APPS = {"config", "tests", "infra.jobs"}


def test_every_name_is_there_once() -> None:
    names = [task.name for task in PERIODIC_TASKS]
    assert len(names) == len(set(names))


def test_the_reference_lists_the_tasks_in_their_order() -> None:
    rows = [row.split(" | ") for row in task_rows().splitlines()[2:]]
    assert [row[0].strip("| `") for row in rows] == [task.name for task in PERIODIC_TASKS]
    assert all(cell.strip(" |") for row in rows for cell in row)


def test_every_list_of_an_app_is_in_the_registry() -> None:
    base = Path(settings.BASE_DIR)
    files = [*base.glob("*/periodic.py"), *base.glob("*/*/periodic.py")]
    apps = {".".join(file.parent.relative_to(base).parts) for file in files} - NOT_APPS
    registry = ast.parse(Path(settings.BASE_DIR, "config/periodic.py").read_text())
    imports = [node for node in ast.walk(registry) if isinstance(node, ast.ImportFrom)]
    named = {node.module for node in imports if node.names[0].name == "periodic"}
    assert named == apps
