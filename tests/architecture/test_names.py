"""One name, one thing: no two modules of the product define a class of the same name."""

import ast
from collections import defaultdict
from pathlib import Path

from tests.rules.texts import FOLDERS, ROOT, SOURCES

# Django asks for these names.
GIVEN = {"Command", "Migration"}


def classes_in(path: Path) -> set[str]:
    tree = ast.parse(path.read_text())
    return {node.name for node in tree.body if isinstance(node, ast.ClassDef)} - GIVEN


def definitions() -> dict[str, list[str]]:
    """The modules that define each class, by its name."""
    found = defaultdict(list)
    for path in SOURCES:
        for name in classes_in(path):
            found[name].append(str(path.relative_to(ROOT)))
    return found


def test_sources_are_found() -> None:
    assert len(SOURCES) > 300
    assert "Account" in definitions()


def test_a_class_name_is_defined_once() -> None:
    assert {name: where for name, where in definitions().items() if len(where) > 1} == {}


def test_a_test_module_has_a_name_of_its_own() -> None:
    """pytest imports them by name alone, and refuses the second one."""
    found = defaultdict(list)
    for path in (ROOT / "tests").rglob("test_*.py"):
        found[path.name].append(path.parent.name)
    assert {name: where for name, where in found.items() if len(where) > 1} == {}


def test_no_test_module_has_the_name_of_an_app() -> None:
    """pytest puts folders of tests before the apps: such a module would be imported as the app."""
    apps = {f"{folder.name}.py" for folder in FOLDERS}
    tests = (ROOT / "tests").rglob("*.py")
    assert [str(path) for path in tests if path.name in apps] == []
