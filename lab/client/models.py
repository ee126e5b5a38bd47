"""Writes `models.py` of the client: what answers contain, and objects that requests contain."""

from collections.abc import Iterable, Iterator
from textwrap import indent

from lab.client.names import KNOWN_FIELDS
from lab.client.shapes import Schema, Shapes
from lab.client.texts import docstring

HEAD = '''"""What Tideline's API answers and takes.

Generated from its OpenAPI document: do not edit.
"""

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Any, Literal, Required, TypedDict

import msgspec


class Entity(msgspec.Struct, frozen=True, kw_only=True):
    """Any object of an answer. It cannot be changed, and it can be compared and pickled."""
'''


def write_models(shapes: Shapes, answered: Iterable[str], sent: Iterable[str]) -> str:
    entities = [_entity(shapes, name) for name in sorted({*answered})]
    inputs = [_input(shapes, name) for name in sorted({*sent})]
    return "\n\n".join([HEAD, *entities, *inputs])


def _entity(shapes: Shapes, name: str) -> str:
    schema = shapes.named(name)
    lines = [*_fields_of_entity(shapes, name, schema)]
    text = docstring(schema.get("description", ""), _described(schema))
    return f"class {name}(Entity, frozen=True, kw_only=True):\n{_body(text, lines)}"


def _fields_of_entity(shapes: Shapes, name: str, schema: Schema) -> Iterator[str]:
    required = schema.get("required", ())
    for field, value in schema["properties"].items():
        kind = KNOWN_FIELDS.get((name, field)) or shapes.answered(value)
        if field not in required and kind != "Any" and not kind.endswith("None"):
            kind = f"{kind} | None"
        yield f"{_attribute(field)}: {_quoted(kind)}{_default(field, field in required)}"


def _attribute(field: str) -> str:
    return field.replace(":", "_")


def _default(field: str, is_required: bool) -> str:
    """How a field that is no name in Python is called, and what one is that is absent."""
    options = [f'name="{field}"'] if _attribute(field) != field else []
    if is_required:
        return f" = msgspec.field({options[0]})" if options else ""
    return f" = msgspec.field({options[0]}, default=None)" if options else " = None"


def _input(shapes: Shapes, name: str) -> str:
    schema = shapes.named(name)
    required = schema.get("required", ())
    lines = []
    for field, value in schema["properties"].items():
        kind = _quoted(shapes.sent(value))
        lines.append(f"{field}: Required[{kind}]" if field in required else f"{field}: {kind}")
    text = docstring(schema.get("description", ""), _described(schema))
    return f"class {name}(TypedDict, total=False):\n{_body(text, lines)}"


def _body(text: str, lines: list[str]) -> str:
    return indent("\n".join([*([text, ""] if text else []), *lines]), "    ")


def _described(schema: Schema) -> list[tuple[str, str]]:
    fields = schema["properties"].items()
    return [(name, value.get("description", "").partition("\n")[0]) for name, value in fields]


def _quoted(kind: str) -> str:
    """A class may name one that comes later."""
    is_builtin = kind[0].islower() and not any(letter.isupper() for letter in kind)
    return kind if is_builtin else f'"{kind}"'
