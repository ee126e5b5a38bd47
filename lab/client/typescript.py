"""Writes what the npm package has of each call: its types, and how it is sent."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from lab.client.names import KNOWN_FIELDS
from lab.client.operations import CURSORS, ApiOperation, Parameter
from lab.client.shapes import Schema, Shapes

HEAD = """// What Tideline's API takes and answers. Generated from its OpenAPI document.
import type { CallOptions, Pages } from "./tideline.js";
"""
FILE = "Blob | Uint8Array<ArrayBuffer>"


def write_types(
    shapes: Shapes, operations: Sequence[ApiOperation], answered: Iterable[str], sent: Iterable[str]
) -> str:
    """`operations.d.ts`. Operations of a group follow each other."""
    entities = [_interface(name, _fields_of_entity(shapes, name)) for name in sorted({*answered})]
    inputs = [
        _interface(name, _fields_of_input(shapes, name)) for name in sorted({*sent} - {*answered})
    ]
    groups = [_interface(_class_of(name), map(_method, of)) for name, of in _groups(operations)]
    return "\n".join([HEAD, *entities, *inputs, *groups, *_roots(operations)])


def write_table(operations: Sequence[ApiOperation]) -> str:
    """`operations.js`: how each call is sent, by its group and its name."""
    tables: dict[bool, dict[str, Any]] = {False: {}, True: {}}
    for group, of_group in _groups(operations):
        calls = {camel(each.named.method): _entry(each) for each in of_group}
        tables[of_group[0].named.is_of_services][camel(group)] = calls
    names = {False: "OF_ACCOUNTS", True: "OF_SERVICES"}
    written = [f"export const {names[is_of]} = {_json(table)};" for is_of, table in tables.items()]
    return "\n".join([HEAD.partition("\n")[0], *written, ""])


def camel(name: str) -> str:
    """`follow_requests` is `followRequests`."""
    first, *others = name.split("_")
    return first + "".join(word.title() for word in others)


def _groups(operations: Sequence[ApiOperation]) -> list[tuple[str, list[ApiOperation]]]:
    groups = groupby(operations, lambda each: each.named.group)
    return [(name, [*of_group]) for name, of_group in groups]


def _class_of(group: str) -> str:
    return f"{group.title().replace('_', '')}Calls"


def _roots(operations: Sequence[ApiOperation]) -> Iterator[str]:
    for root, is_of_services in (("AccountGroups", False), ("ServiceGroups", True)):
        groups = _groups([o for o in operations if o.named.is_of_services is is_of_services])
        yield _interface(root, (f"{camel(name)}: {_class_of(name)};" for name, _ in groups))


def _interface(name: str, members: Iterable[str]) -> str:
    lines = [f"  {line}" for member in members for line in member.splitlines()]
    return "\n".join([f"export interface {name} {{", *lines, "}", ""])


def _fields_of_entity(shapes: Shapes, name: str) -> Iterator[str]:
    schema = shapes.named(name)
    for field, value in schema["properties"].items():
        known = KNOWN_FIELDS.get((name, field), "").replace("None", shapes.language.nothing)
        is_required = field in schema.get("required", ())
        yield _field(field, known or shapes.answered(value), is_required, value)


def _fields_of_input(shapes: Shapes, name: str) -> Iterator[str]:
    schema = shapes.named(name)
    for field, value in schema["properties"].items():
        yield _field(field, shapes.sent(value), field in schema.get("required", ()), value)


def _field(name: str, kind: str, is_required: bool, schema: Schema) -> str:
    text = _comment(schema.get("description", "").partition("\n")[0])
    written = name if name.isidentifier() else json.dumps(name)
    return f"{text}{written}{'' if is_required else '?'}: {kind};"


def _method(operation: ApiOperation) -> str:
    others = [each for each in operation.parameters if each.place != "path"]
    arguments = [f"{camel(each.name)}: string" for each in operation.at("path")]
    if others:
        optional = "" if any(each.is_required for each in others) else "?"
        fields = "; ".join(map(_argument, others))
        arguments.append(f"parameters{optional}: {{ {fields} }}")
    arguments.append("options?: CallOptions")
    described = [
        f"`{each.name}`: {each.text}"
        for each in operation.parameters
        if each.text and each.name not in CURSORS
    ]
    text = _comment("\n".join([operation.text, *described]))
    return f"{text}{camel(operation.named.method)}({', '.join(arguments)}): {_answer(operation)};"


def _argument(parameter: Parameter) -> str:
    kind = FILE if parameter.type == "bytes" else parameter.type
    return f"{parameter.name}{'' if parameter.is_required else '?'}: {kind}"


def _answer(operation: ApiOperation) -> str:
    return f"Pages<{operation.item}>" if operation.item else f"Promise<{operation.answer}>"


def _comment(text: str) -> str:
    lines = text.strip().replace("*/", "* /").splitlines()
    if len(lines) <= 1:
        return f"/** {lines[0]} */\n" if lines else ""
    return "\n".join(["/**", *(f" * {line}".rstrip() for line in lines), " */", ""])


def _entry(operation: ApiOperation) -> Mapping[str, Any]:
    named, body = operation.named, operation.at("body")
    entry: dict[str, Any] = {
        "verb": named.verb,
        "path": named.path,
        "of": [each.sent_as for each in operation.at("path")],
        "query": {each.name: each.sent_as for each in operation.at("query")},
        "body": {each.name: each.sent_as for each in body},
        "files": [each.name for each in body if each.type == "bytes"],
        "hasKey": any(each.name == "idempotency_key" for each in operation.parameters),
        "repeats": named.is_repeatable,
    }
    given = {name: value for name, value in entry.items() if value or name == "of"}
    return given | ({"pages": operation.page_field} if operation.item else {})


def _json(table: Mapping[str, Any]) -> str:
    """A line for each call, which a person can find."""
    groups = []
    for group, calls in table.items():
        lines = [f"    {json.dumps(name)}: {json.dumps(entry)}" for name, entry in calls.items()]
        groups.append(f"  {json.dumps(group)}: {{\n" + ",\n".join(lines) + "\n  }")
    return "{\n" + ",\n".join(groups) + "\n}"
