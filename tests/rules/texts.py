"""The texts the rules look at, and what a rule says of one: file, line and fault."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
NOT_PRODUCT = {"tests", "docs"}
FOLDERS = [init.parent for init in ROOT.glob("[a-z]*/__init__.py")]
PRODUCT = [folder for folder in FOLDERS if folder.name not in NOT_PRODUCT]
SOURCES = sorted(
    path for folder in PRODUCT for path in folder.rglob("*.py") if "migrations" not in path.parts
)
# A package of its own, for products. Its classes may be called like Tideline's.
CLIENT = sorted(
    path for path in (ROOT / "client/src").rglob("*.py") if "migrations" not in path.parts
)
OURS = ["*.md", "docs/**/*.md", "operations/**/*.md", "client/*.md"]
DOCUMENTS = sorted({path for pattern in OURS for path in ROOT.glob(pattern)})
# Templates and scripts have texts for people too.
TEMPLATES = sorted(
    path for folder in [*PRODUCT, ROOT / "client/src"] for path in folder.rglob("*.html")
)
SCRIPTS = sorted(path for folder in PRODUCT for path in folder.rglob("*.lua"))


class Fault(NamedTuple):
    """A line that breaks a rule."""

    path: Path
    line: int
    what: str

    def __str__(self) -> str:
        path = self.path.relative_to(ROOT) if self.path.is_relative_to(ROOT) else self.path
        return f"{path}:{self.line}: {self.what}"


class Text(NamedTuple):
    """A file, and what is in it."""

    path: Path
    content: str

    def fault(self, line: int, what: str) -> Fault:
        return Fault(self.path, line, what)

    def fault_at(self, place: int, what: str) -> Fault:
        """The same for the number of a character."""
        return self.fault(self.content.count("\n", 0, place) + 1, what)


@cache
def parsed(content: str) -> ast.Module:
    """A source as a tree: several rules walk through it."""
    return ast.parse(content)


def texts_of(paths: list[Path]) -> Iterator[Text]:
    for path in paths:
        yield Text(path, path.read_text())
