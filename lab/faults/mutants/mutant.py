"""What a mutant is, and how it is put into a copy of the checkout."""

from dataclasses import dataclass
from pathlib import Path


class MutantDoesNotApply(ValueError):
    """The old text of an edit is not in its file, or is there more than once."""


@dataclass(frozen=True)
class Edit:
    """`old` is in the file exactly once."""

    path: str
    old: str
    new: str


@dataclass(frozen=True)
class Mutant:
    """`fault`: what the product then does wrong. `experiments` and `tests`: those that should catch
    it; a test is "path::name".
    """

    name: str
    fault: str
    experiments: tuple[str, ...]
    edits: tuple[Edit, ...]
    tests: tuple[str, ...] = ()


def apply_mutant(mutant: Mutant, checkout: Path) -> None:
    """Changes the files. Raises: MutantDoesNotApply; then the checkout may be half changed."""
    for edit in mutant.edits:
        path = checkout / edit.path
        path.write_text(mutated(path.read_text(), edit))


def mutated(text: str, edit: Edit) -> str:
    """The text of the file with the edit. Raises: MutantDoesNotApply."""
    if text.count(edit.old) != 1:
        raise MutantDoesNotApply(f"{edit.path} has this {text.count(edit.old)} times: {edit.old!r}")
    return text.replace(edit.old, edit.new)
