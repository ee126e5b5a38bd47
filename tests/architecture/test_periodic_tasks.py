"""The registry of periodic tasks, and the page that lists them."""

import ast
from pathlib import Path

from django.conf import settings

from config.periodic import PERIODIC_TASKS
from infra.jobs.periodic import PeriodicTask

NOT_APPS = {"config", "tests", "infra.jobs"}
PAGE = "docs/reference/periodic-tasks.md"
DATABASES = {"SHARDED": "each shard", "GLOBAL": "default", "EVERYWHERE": "each database"}


def test_every_name_is_there_once() -> None:
    names = [task.name for task in PERIODIC_TASKS]
    assert len(names) == len(set(names))


def test_page_lists_the_tasks_in_their_order() -> None:
    lines = Path(settings.BASE_DIR, PAGE).read_text().splitlines()
    rows = [line for line in lines if line.startswith("| `")]
    assert [[cell.strip() for cell in row.split("|")[1:5]] for row in rows] == [
        documented(task) for task in PERIODIC_TASKS
    ]


def documented(task: PeriodicTask) -> list[str]:
    return [f"`{task.name}`", f"{task.period_s:g} s", DATABASES[task.placement.name], task.cost]


def test_every_list_of_an_app_is_in_the_registry() -> None:
    base = Path(settings.BASE_DIR)
    files = [*base.glob("*/periodic.py"), *base.glob("*/*/periodic.py")]
    apps = {".".join(file.parent.relative_to(base).parts) for file in files} - NOT_APPS
    registry = ast.parse(Path(settings.BASE_DIR, "config/periodic.py").read_text())
    imports = [node for node in ast.walk(registry) if isinstance(node, ast.ImportFrom)]
    named = {node.module for node in imports if node.names[0].name == "periodic"}
    assert named == apps
