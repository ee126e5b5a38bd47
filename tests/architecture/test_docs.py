"""The documents and the code agree: commands, settings, decisions."""

import ast
import re
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.rules.texts import ROOT

SETTINGS = ROOT / "docs/reference/settings.md"
COMMANDS = ROOT / "docs/reference/commands"
METRICS = ROOT / "docs/reference/metrics.md"
PROOFS = ROOT / "docs/reference/what-proves-the-pages.md"
READERS = ["config", "web", "lab/runner", "lab/services"]
DECISIONS = ROOT / "docs/explanation/decisions"
MOST_WORDS_OF_A_DECISION = 400
# Pages that follow one write through all its files.
WRITES = ("publish-a-post.md", "follow-an-account.md", "favourite-a-post.md")
MOST_FILES_OF_A_WRITE = 25
PATHS = re.compile(r"`([\w/]+\.(?:py|sql))`")
CALLED = re.compile(r"`(\w+)\(\)`")
# What every process has, and nobody sets for Tideline.
EVERYWHERE = {"PATH"}
IN_ROWS = re.compile(r"^\| `([A-Z_]+)` \| (.*) \|$", re.MULTILINE)
MAKE_VARIABLES = re.compile(r"^([A-Z_]+) \?=|\$\(([A-Z]+_FLAGS)\)", re.MULTILINE)
READ_ELSEWHERE = re.compile(r'environ(?:\.get\(|\[)"([A-Z_]+)"')


class Number(NamedTuple):
    """A whole number among the settings."""

    default: str
    least: str
    most: str


def test_every_command_has_a_heading_in_the_reference_and_every_heading_a_command() -> None:
    pages = "\n".join(path.read_text() for path in COMMANDS.glob("*.md"))
    documented = re.findall(r"^## `(\w+)`$", pages, re.MULTILINE)
    assert sorted(documented) == sorted(our_commands())


def our_commands() -> list[str]:
    packages = [init.parent for init in ROOT.glob("[a-z]*/__init__.py")]
    found = [path for root in packages for path in root.glob("**/management/commands/*.py")]
    return [path.stem for path in found if path.stem != "__init__"]


def test_every_setting_is_in_the_reference_and_the_reverse() -> None:
    documented = [name for name, _ in IN_ROWS.findall(SETTINGS.read_text())]
    assert sorted(documented) == sorted(settings_read() | variables_of_make())


def settings_read() -> set[str]:
    """Names given to `_env` in the settings, and to `environ` in the code of READERS."""
    sources = [path.read_text() for top in READERS for path in (ROOT / top).rglob("*.py")]
    elsewhere = {name for source in sources for name in READ_ELSEWHERE.findall(source)}
    return (set(environment_calls()) | elsewhere) - EVERYWHERE


def environment_calls() -> dict[str, ast.Call]:
    """The calls of `_env` that read a setting, by its name."""
    tree = ast.parse((ROOT / "config/settings.py").read_text())
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return {
        str(call.args[0].value): call
        for call in calls
        if re.fullmatch(r"_env\.\w+", ast.unparse(call.func))
        and call.args
        and isinstance(call.args[0], ast.Constant)
    }


def variables_of_make() -> set[str]:
    found = MAKE_VARIABLES.findall((ROOT / "Makefile").read_text())
    return {one or other for one, other in found}


def test_numbers_in_the_reference_are_those_of_the_settings() -> None:
    rows = {name: cells.split(" | ") for name, cells in IN_ROWS.findall(SETTINGS.read_text())}
    documented = {name: _documented_number(rows[name]) for name in numbers_read()}
    assert documented == numbers_read()


def numbers_read() -> dict[str, Number]:
    return {
        name: Number(*(f"{ast.literal_eval(arg):,}" for arg in call.args[1:]))
        for name, call in environment_calls().items()
        if ast.unparse(call.func) == "_env.number"
    }


def _documented_number(cells: list[str]) -> Number:
    least, _, most = cells[1].partition("–")  # noqa: RUF001 - a range is written with a dash
    return Number(cells[0], least, most)


def test_what_proves_the_pages_exists() -> None:
    """Tests, and steps of the story of two people, each of which is in the table."""
    page = PROOFS.read_text()
    tests = {name for path in (ROOT / "tests").rglob("test_*.py") for name in functions_of(path)}
    assert set(re.findall(r"`(test_\w+)`", page)) - tests == set()
    story = functions_of(ROOT / "tests/browser/test_story.py")
    steps = set(re.findall(r"step `(\w+)`", page))
    assert steps == {name for name in story if not name.startswith(("test_", "expect_", "is_"))}


def functions_of(path: Path) -> set[str]:
    return set(re.findall(r"^def (\w+)\(", path.read_text(), re.MULTILINE))


def test_every_decision_is_in_the_list_of_decisions() -> None:
    decisions = {path.name for path in DECISIONS.glob("0*.md")}
    assert set(re.findall(r"\(([^)]+)\)", (DECISIONS / "index.md").read_text())) == decisions


def test_decisions_are_short() -> None:
    """A page that grows with each change is no decision: details belong to the code."""
    words = {path.name: len(path.read_text().split()) for path in DECISIONS.glob("0*.md")}
    assert {name: count for name, count in words.items() if count > MOST_WORDS_OF_A_DECISION} == {}


def test_the_files_for_newcomers_exist() -> None:
    page = (ROOT / "docs/explanation/architecture.md").read_text()
    section = page.partition("## Ten files")[2].partition("\n## ")[0]
    files = listed_files(section)
    assert len(files) == 10
    assert missing_in(files) == []


@pytest.mark.parametrize("name", WRITES)
def test_a_write_is_told_in_files_and_functions_that_exist(name: str) -> None:
    page = (ROOT / "docs/explanation" / name).read_text()
    files = listed_files(page)
    assert 10 < len(files) <= MOST_FILES_OF_A_WRITE
    assert [number for number, *_ in files] == list(range(1, len(files) + 1))
    assert len({path for _, path, _ in files}) == len(files)
    assert missing_in(files) == []
    assert [path for path in PATHS.findall(page) if not (ROOT / path).is_file()] == []


def listed_files(text: str) -> list[tuple[int, str, str]]:
    """The items of a numbered list: number, file, and what is said of it."""
    items = re.findall(r"^(\d+)\. `(\S+)`(.*?)(?=^\d+\. |\n\n|\Z)", text, re.MULTILINE | re.DOTALL)
    return [(int(number), path, said) for number, path, said in items]


def missing_in(files: list[tuple[int, str, str]]) -> list[str]:
    """Files that do not exist, and functions and classes that are not defined in their file."""
    missing = [path for _, path, _ in files if not (ROOT / path).is_file()]
    named = [(path, name) for _, path, said in files for name in CALLED.findall(said)]
    return missing or [f"{path}: {name}" for path, name in named if not defines(path, name)]


def defines(path: str, name: str) -> bool:
    return bool(re.search(rf"\b(def|class|FUNCTION) {name}\b", (ROOT / path).read_text()))
