"""The operations of the OpenAPI document that the client has, as methods."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from lab.client.names import (
    ALWAYS_GIVEN,
    DECIDED_BY_FIELD,
    FILES,
    LEFT_OUT_PARAMETERS,
    PAGED_FIELDS,
)
from lab.client.naming import Named
from lab.client.shapes import REFERENCE, Schema, Shapes, reference_in

CURSORS = {"max_id", "min_id", "since_id"}
JSON, FORM = "application/json", "multipart/form-data"


class Parameter(NamedTuple):
    """An argument of a method. `sent_as`: its name in HTTP. `place`: path, query, header, body."""

    name: str
    sent_as: str
    type: str
    place: str
    is_required: bool
    text: str


@dataclass(frozen=True)
class ApiOperation:
    """A method of the client."""

    named: Named
    text: str
    parameters: list[Parameter]
    answer: str
    # The type of an item, if the answer comes in pages; "": it does not.
    item: str
    page_field: str
    has_files: bool

    def at(self, place: str) -> list[Parameter]:
        return [each for each in self.parameters if each.place == place]


def read_operation(document: Schema, shapes: Shapes, named: Named) -> ApiOperation:
    """Raises: KeyError, if the document has no such operation."""
    described = document["paths"][named.path][named.verb.lower()]
    name = f"{named.group}.{named.method}"
    fields = [
        each._replace(type="bytes") if (name, each.name) in FILES else each
        for each in _fields(shapes, described)
    ]
    answer = _answer_of(described)
    if name in DECIDED_BY_FIELD:
        fields, answer = _decided(fields, *DECIDED_BY_FIELD[name])
    parameters = [*_in_order_of(named.path, _parameters(shapes, described)), *fields]
    item, field = _item_of(shapes, named, answer, parameters)
    return ApiOperation(
        named,
        described.get("description", ""),
        [each for each in parameters if each.sent_as not in LEFT_OUT_PARAMETERS],
        shapes.answered(answer) if answer else shapes.language.nothing,
        item,
        field,
        any(each.type == "bytes" for each in parameters),
    )


def _in_order_of(path: str, parameters: Iterator[Parameter]) -> list[Parameter]:
    """Those of the path come first, as it has them: the document sorts them by name."""
    return sorted(
        parameters,
        key=lambda each: path.find(f"{{{each.sent_as}}}") if each.place == "path" else len(path),
    )


def body_schema_of(described: Schema) -> Schema | None:
    content = described.get("requestBody", {}).get("content", {})
    body = content.get(JSON) or content.get(FORM)
    return body["schema"] if body else None


def _parameters(shapes: Shapes, described: Schema) -> Iterator[Parameter]:
    for each in described.get("parameters", ()):
        kind = shapes.sent(each["schema"])
        is_required = each.get("required", False) or each["name"] in ALWAYS_GIVEN
        text = each.get("description", "")
        yield Parameter(_argument(each["name"]), each["name"], kind, each["in"], is_required, text)


def _fields(shapes: Shapes, described: Schema) -> Iterator[Parameter]:
    """Of the body, whose fields are arguments. Those that must be sent come first."""
    schema = body_schema_of(described)
    if schema is None:
        return
    body = shapes.resolve(schema)
    required = body.get("required", ())
    for name in sorted(body.get("properties", {}), key=lambda name: name not in required):
        field = body["properties"][name]
        text = field.get("description", "").partition("\n")[0]
        kind = shapes.sent(field)
        yield Parameter(_argument(name), name, kind, "body", name in required, text)


def _decided(
    fields: list[Parameter], field: str, is_sent: bool, answer: str
) -> tuple[list[Parameter], Schema]:
    """The fields of one of the methods, and what it answers."""
    others = [each for each in fields if each.name != field]
    [deciding] = [each for each in fields if each.name == field]
    sent = [deciding._replace(is_required=True)] if is_sent else []
    return [*sent, *others], {"$ref": f"{REFERENCE}{answer}"}


def _argument(name: str) -> str:
    """`id[]` is `ids`, `Idempotency-Key` is `idempotency_key`."""
    plain = name.removesuffix("[]").replace("-", "_").lower()
    return "ids" if name == "id[]" else plain


def _answer_of(described: Schema) -> Schema | None:
    content = described["responses"].get("200", {}).get("content", {})
    schema: Any = content.get(JSON, {}).get("schema")
    return schema


def _item_of(
    shapes: Shapes, named: Named, answer: Schema | None, parameters: list[Parameter]
) -> tuple[str, str]:
    """The type of the items of a page, and the field of the answer that they are in."""
    if not answer or not {each.sent_as for each in parameters} >= CURSORS:
        return "", ""
    field = PAGED_FIELDS.get(f"{named.group}.{named.method}", "")
    if field:
        answer = shapes.named(reference_in(answer))["properties"][field]
    if answer.get("type") != "array":
        return "", ""
    return shapes.answered(answer["items"]), field
