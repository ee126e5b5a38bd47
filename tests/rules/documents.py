"""Links in the documents lead somewhere, and their lines fit a terminal."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from lab.reference.notes import names_in_note
from tests.rules.texts import ROOT, Fault, Text

LINKS = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
WIDTH = 110


def dead_links(document: Text) -> Iterator[Fault]:
    for match in LINKS.finditer(document.content):
        link = match.group(1)
        if "://" not in link and not leads_somewhere(document.path, link):
            yield document.fault_at(match.start(), f"{link} leads nowhere")


def leads_somewhere(document: Path, link: str) -> bool:
    name, _, anchor = link.partition("#")
    target = (document.parent / name).resolve() if name else document
    if target.parent == ROOT / "docs/diagrams":  # drawn by docs/build.py
        target = target.with_suffix(".d2")
    if not target.exists() or not target.is_relative_to(ROOT):
        return False
    return not anchor or anchor in _anchors(target)


@cache
def _anchors(page: Path) -> set[str]:
    """As GitHub makes them of headings, and those of commands, which the site only has."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
    return {name.replace(" ", "-") for name in names_in_note(page.read_text())} | {
        re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings
    }


def long_lines(document: Text) -> Iterator[Fault]:
    """Outside code, tables and links, which cannot be broken."""
    prose = FENCED.sub(lambda code: "\n" * code.group(0).count("\n"), document.content)
    for number, line in enumerate(prose.splitlines(), start=1):
        if len(line) > WIDTH and not line.startswith(("|", "- [")):
            yield document.fault(number, f"{len(line)} characters, at most {WIDTH}")
