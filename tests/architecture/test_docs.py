"""The documents and the code agree: commands, settings, decisions, links."""

import ast
import re
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[2]
SETTINGS = ROOT / "docs/reference/settings.md"
COMMANDS = ROOT / "docs/reference/commands"
METRICS = ROOT / "docs/reference/metrics.md"
DECISIONS = ROOT / "docs/explanation/decisions"
SETTINGS = ROOT / "docs/reference/settings.md"
COMMANDS = ROOT / "docs/reference/commands"
METRICS = ROOT / "docs/reference/metrics.md"
DECISIONS = ROOT / "docs/explanation/decisions"
MOST_WORDS_OF_A_DECISION = 400
OURS = ["README.md", "CONTRIBUTING.md", "docs/**/*.md", "demo/**/*.md"]
DOCUMENTS = sorted({path for pattern in OURS for path in ROOT.glob(pattern)})
# What every process has, and nobody sets for Tideline.
EVERYWHERE = {"PATH"}
IN_ROWS = re.compile(r"^\| `([A-Z_]+)` \| (.*) \|$", re.MULTILINE)
MAKE_VARIABLES = re.compile(r"^([A-Z_]+) \?=|\$\(([A-Z]+_FLAGS)\)", re.MULTILINE)
READ_ELSEWHERE = re.compile(r'environ(?:\.get\(|\[)"([A-Z_]+)"')
LINKS = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


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
    """Names given to `_env` in the settings, and to `environ` in the rest of config."""
    sources = [path.read_text() for path in (ROOT / "config").rglob("*.py")]
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


def test_every_decision_is_in_the_list_of_decisions() -> None:
    decisions = {path.name for path in DECISIONS.glob("0*.md")}
    assert set(re.findall(r"\(([^)]+)\)", (DECISIONS / "index.md").read_text())) == decisions


def test_decisions_are_short() -> None:
    """A page that grows with each change is no decision: details belong to the code."""
    words = {path.name: len(path.read_text().split()) for path in DECISIONS.glob("0*.md")}
    assert {name: count for name, count in words.items() if count > MOST_WORDS_OF_A_DECISION} == {}


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(document: Path) -> None:
    links = [link for link in LINKS.findall(document.read_text()) if "://" not in link]
    assert [link for link in links if not _leads_somewhere(document, link)] == []


def _leads_somewhere(document: Path, link: str) -> bool:
    name, _, anchor = link.partition("#")
    target = (document.parent / name).resolve() if name else document
    if target.parent == ROOT / "docs/diagrams":  # drawn by docs/build.py
        target = target.with_suffix(".d2")
    if not target.exists() or not target.is_relative_to(ROOT):
        return False
    return not anchor or anchor in _anchors(target.read_text())


def _anchors(text: str) -> set[str]:
    """As GitHub makes them of headings."""
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_lines_fit_a_terminal(document: Path) -> None:
    """Outside code, tables and links, which cannot be broken."""
    prose = re.sub(r"^```.*?^```$", "", document.read_text(), flags=re.MULTILINE | re.DOTALL)
    lines = [line for line in prose.splitlines() if not line.startswith(("|", "- ["))]
    assert [line for line in lines if len(line) > 110] == []
