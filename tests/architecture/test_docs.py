"""The documents and the code agree: commands, settings, decisions."""

import re
from pathlib import Path

import pytest

from infra.verbs import without_links
from lab.reference.commands import command_names, load_command, parser_of
from lab.reference.pages import rendered
from lab.reference.settings import declared, settings
from tests.rules.texts import ROOT

SETTINGS = ROOT / "docs/reference/settings.md"
COMMANDS = ROOT / "docs/reference/commands"
PROOFS = ROOT / "docs/reference/what-proves-the-pages.md"
READERS = ["config", "web", "lab/runner", "lab/services"]
DECISIONS = ROOT / "docs/explanation/decisions"
MOST_DECISIONS = 55
# Of all pages together. What the code declares or says belongs there (lab/reference renders it).
MOST_WORDS = 70_000
MOST_WORDS_OF_A_DECISION = 400
STATE = re.compile(r"# (\d{4})\. .+\n\nState: accepted\.(?: Replaces ((?:\d{4}(?:, )?)+)\.)?\n")
# Pages that follow one write through all its files.
WRITES = ("publish-a-post.md", "follow-an-account.md", "favourite-a-post.md")
MOST_FILES_OF_A_WRITE = 25
PATHS = re.compile(r"`([\w/]+\.(?:py|sql))`")
CALLED = re.compile(r"`(\w+)\(\)`")
# What every process has, and nobody sets for Tideline.
EVERYWHERE = {"PATH"}
IN_ROWS = re.compile(r"^\| `([A-Z_]+)` \|", re.MULTILINE)
MAKE_VARIABLES = re.compile(r"^([A-Z_]+) \?=|\$\(([A-Z]+_FLAGS)\)", re.MULTILINE)
READ_ELSEWHERE = re.compile(r'environ(?:\.get\(|\[)"([A-Z_]+)"')


def test_every_command_is_on_one_page_of_the_reference() -> None:
    pages = [rendered(path.read_text()) for path in COMMANDS.glob("*.md")]
    documented = re.findall(r"^## `([\w -]+)`$", "\n".join(pages), re.MULTILINE)
    assert sorted(documented) == sorted(command_names())


def test_every_command_has_a_manual_that_its_help_ends_with() -> None:
    for name in command_names():
        command = load_command(name)
        manual = command.manual
        assert manual.startswith("**When**: "), name
        printed, words = parser_of(command).format_help().split(), without_links(manual).split()
        assert printed[-len(words) :] == words, name


def test_every_setting_says_what_it_is_and_no_other_is_read() -> None:
    described = [setting.name for setting in settings()]
    assert sorted(described) == sorted(declared())
    of_make = IN_ROWS.findall(SETTINGS.read_text())
    assert {*described, *of_make} == {*declared()} | read_elsewhere() | variables_of_make()


def read_elsewhere() -> set[str]:
    """Names given to `environ` in the code of READERS."""
    sources = [path.read_text() for top in READERS for path in (ROOT / top).rglob("*.py")]
    return {name for source in sources for name in READ_ELSEWHERE.findall(source)} - EVERYWHERE


def variables_of_make() -> set[str]:
    found = MAKE_VARIABLES.findall((ROOT / "Makefile").read_text())
    return {one or other for one, other in found}


def test_a_setting_has_its_default_and_its_limits() -> None:
    rows = {setting.name: setting for setting in settings()}
    assert rows["FOLLOW_CAP"][2:4] == ("2,000", "1–1,000,000")  # noqa: RUF001 - a range
    assert rows["HTTPS"].default == "on, off with `DEVELOPMENT`"
    assert rows["LOG_LEVEL"].default == "`INFO`"


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


def test_every_decision_says_its_state_and_which_it_replaces() -> None:
    """A number stands in one place: its own page, a page that replaced it, or the list."""
    pages = sorted(DECISIONS.glob("0*.md"))
    states = [STATE.match(path.read_text()) for path in pages]
    numbers = [state[1] for state in states if state]
    assert numbers == [path.name[:4] for path in pages]
    replaced = [
        number for state in states if state for number in re.findall(r"\d{4}", state[2] or "")
    ]
    listed = re.findall(r"\d{4}", (DECISIONS / "index.md").read_text())
    found = [*numbers, *replaced, *listed]
    assert [number for number in found if found.count(number) > 1] == []
    assert len(pages) <= MOST_DECISIONS


def test_the_states_of_an_edge_are_those_of_the_code() -> None:
    page = rendered((ROOT / "docs/explanation/relations.md").read_text())
    assert "| `BLACK` | refused | refused | refused | `BLACK` | `BLACK` | `NONE` |" in page


def test_decisions_are_short() -> None:
    """A page that grows with each change is no decision: details belong to the code."""
    words = {path.name: len(path.read_text().split()) for path in DECISIONS.glob("0*.md")}
    assert {name: count for name, count in words.items() if count > MOST_WORDS_OF_A_DECISION} == {}


def test_the_pages_together_can_be_read() -> None:
    pages = (ROOT / "docs").rglob("*.md")
    assert sum(len(page.read_text().split()) for page in pages) <= MOST_WORDS


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
