"""Settings: their declarations in `config/settings.py`, each with a comment that begins with `#:`.

A default that no literal shows is at the beginning of the comment, in brackets.
"""

import ast
import re
from collections.abc import Iterator
from typing import NamedTuple

from lab.reference.tables import table
from lab.runner.child import CHECKOUT

SOURCE = CHECKOUT / "config/settings.py"
HEADING = re.compile(r"# -- (.+?) -+$")
HEAD = "| name | default | range | meaning |"
CALL = re.compile(r"_env\.\w+\(\s*\"([A-Z_]+)\"")
DEFAULT = re.compile(r"\((.+?)\) ")


class Setting(NamedTuple):
    """`limits`: the smallest and the largest number; "": it is no number."""

    section: str
    name: str
    default: str
    limits: str
    meaning: str


def setting_sections() -> str:
    """A table for each part of the file."""
    sections: dict[str, list[str]] = {}
    for section, *cells in settings():
        sections.setdefault(section, []).append(f"| `{cells[0]}` | {' | '.join(cells[1:])} |")
    return "\n\n".join(
        f"## {section.capitalize() if section.islower() else section}\n\n{table(HEAD, rows)}"
        for section, rows in sections.items()
    )


def settings() -> Iterator[Setting]:
    """In the order of the file. Raises: KeyError, for a comment above something else."""
    calls, section, comment = declared(), "", []
    for line in SOURCE.read_text().splitlines():
        if heading := HEADING.match(line):
            section = heading[1]
        if line.strip().startswith("#:"):
            comment.append(line.strip()[2:].strip())
        elif comment and (name := CALL.search(line)):
            yield _setting(section, calls[name[1]], " ".join(comment))
            comment = []


def declared() -> dict[str, ast.Call]:
    """The calls of `_env` that read a setting, by its name."""
    calls = [node for node in ast.walk(ast.parse(SOURCE.read_text())) if isinstance(node, ast.Call)]
    return {
        str(call.args[0].value): call
        for call in reversed(calls)
        if re.fullmatch(r"_env\.\w+", ast.unparse(call.func))
        and call.args
        and isinstance(call.args[0], ast.Constant)
    }


def _setting(section: str, call: ast.Call, comment: str) -> Setting:
    name, *values = (_literal(value) for value in call.args)
    said = DEFAULT.match(comment)
    default = said[1] if said else _shown(values[0])
    limits = f"{values[1]:,}–{values[2]:,}" if len(values) == 3 else ""  # noqa: RUF001
    return Setting(section, str(name), default, limits, comment[said.end() :] if said else comment)


def _literal(node: ast.expr) -> object:
    try:
        return ast.literal_eval(node)
    except ValueError:
        return None


def _shown(value: object) -> str:
    match value:
        case bool():
            return f"`{int(value)}`"
        case int():
            return f"{value:,}"
        case list():
            return f"`{','.join(value)}`" if value else "none"
        case str():
            return f"`{value}`" if value else "none"
    return ""
