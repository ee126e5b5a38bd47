"""Schemas of the OpenAPI document as types of Python: of answers, and of what is sent.

Answers are read generously, so that a newer Tideline does not break an older client: enumerations
are texts, and fields that the client does not know are ignored. What is sent is checked by types.
"""

from collections.abc import Iterator, Mapping
from typing import Any

Schema = Mapping[str, Any]
SCALARS = {"integer": "int", "number": "float", "boolean": "bool"}
TIMES = {"date-time": "datetime", "date": "date"}
REFERENCE = "#/components/schemas/"


class Shapes:
    """The schemas of a document, by name."""

    def __init__(self, document: Schema) -> None:
        self._schemas: Mapping[str, Schema] = document["components"]["schemas"]

    def named(self, name: str) -> Schema:
        return self._schemas[name]

    def resolve(self, schema: Schema) -> Schema:
        name = reference_in(schema)
        return self.resolve(self.named(name)) if name else schema

    def answered(self, schema: Schema) -> str:
        """The type of a value in an answer."""
        text = self._answered(schema)
        return f"{text} | None" if schema.get("nullable") and text != "Any" else text

    def _answered(self, schema: Schema) -> str:
        name = reference_in(schema)
        if name:
            return name if self.is_object(name) else self._answered(self.named(name))
        match schema.get("type"):
            case "array":
                return f"list[{self.answered(schema['items'])}]"
            case "object":
                return "dict[str, Any]"
            case "string":
                return TIMES.get(schema.get("format", ""), "str")
            case str(kind):
                return SCALARS[kind]
        return "Any"

    def sent(self, schema: Schema) -> str:
        """The type of a value in a request. Null is not sent: such a field is left out."""
        name = reference_in(schema)
        if name:
            return name if self.is_object(name) else self.sent(self.named(name))
        choices = [self.sent(each) for each in schema.get("anyOf") or schema.get("oneOf") or ()]
        if choices:
            return self._sent_choice([choice for choice in choices if choice != "None"])
        if "enum" in schema:
            return _sent_enumeration(schema["enum"])
        match schema.get("type"):
            case "array":
                return f"Sequence[{self.sent(schema['items'])}]"
            case "object" if isinstance(schema.get("additionalProperties"), dict):
                return f"Mapping[str, {self.sent(schema['additionalProperties']) or 'Any'}]"
            case "object":
                return "Mapping[str, Any]"
            case "string":
                return "str"
            case str(kind):
                return SCALARS[kind]
        return "Any"

    def _sent_choice(self, choices: list[str]) -> str:
        """A form has texts for booleans. Python has booleans."""
        if "bool" in choices:
            return "bool"
        return " | ".join(dict.fromkeys(choices)) or "str"

    def is_object(self, name: str) -> bool:
        return "properties" in self.named(name)

    def names_in(self, schema: Schema) -> Iterator[str]:
        """The objects that a schema refers to, and those that they refer to."""
        name = reference_in(schema)
        if name and self.is_object(name):
            yield name
        below = self.named(name) if name else schema
        for part in _parts_of(below):
            yield from self.names_in(part)


def reference_in(schema: Schema) -> str:
    """The name of the schema that this one refers to; "": none."""
    whole = schema.get("allOf", [schema])[0]
    return str(whole.get("$ref", "")).removeprefix(REFERENCE)


def _parts_of(schema: Schema) -> Iterator[Schema]:
    yield from schema.get("properties", {}).values()
    yield from schema.get("anyOf", ())
    yield from schema.get("oneOf", ())
    if isinstance(schema.get("items"), dict):
        yield schema["items"]


def _sent_enumeration(values: list[Any]) -> str:
    """What a form writes for a boolean is a boolean; a blank text and null are left out."""
    texts = [value for value in values if value not in ("", None)]
    if any(text is True or text == "true" for text in texts):
        return "bool"
    if not texts or any(isinstance(text, bool | int) for text in texts):
        return "None" if not texts else "bool"
    return f"Literal[{', '.join(map(repr, texts))}]"
