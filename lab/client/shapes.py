"""Schemas of the OpenAPI document as types of a language: of answers, and of what is sent.

Answers are read generously, so that a newer Tideline does not break an older client: enumerations
are texts, and fields that the client does not know are ignored. What is sent is checked by types.
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

Schema = Mapping[str, Any]
REFERENCE = "#/components/schemas/"


class Language(NamedTuple):
    """What types are called. `{}` is the type inside, or the texts of an enumeration.

    `times`: by the format of a text. `array` and `object` are in answers, the others are sent.
    """

    text: str
    scalars: Mapping[str, str]
    times: Mapping[str, str]
    anything: str
    nothing: str
    array: str
    object: str
    sequence: str
    mapping: str
    enumeration: str
    between: str


PYTHON = Language(
    text="str",
    scalars={"integer": "int", "number": "float", "boolean": "bool"},
    times={"date-time": "datetime", "date": "date"},
    anything="Any",
    nothing="None",
    array="list[{}]",
    object="dict[str, Any]",
    sequence="Sequence[{}]",
    mapping="Mapping[str, {}]",
    enumeration="Literal[{}]",
    between=", ",
)
TYPESCRIPT = Language(
    text="string",
    scalars={"integer": "number", "number": "number", "boolean": "boolean"},
    times={},
    anything="unknown",
    nothing="null",
    array="Array<{}>",
    object="Record<string, unknown>",
    sequence="ReadonlyArray<{}>",
    mapping="Readonly<Record<string, {}>>",
    enumeration="{}",
    between=" | ",
)


class Shapes:
    """The schemas of a document, by name."""

    def __init__(self, document: Schema, language: Language = PYTHON) -> None:
        self._schemas: Mapping[str, Schema] = document["components"]["schemas"]
        self.language = language

    def named(self, name: str) -> Schema:
        return self._schemas[name]

    def resolve(self, schema: Schema) -> Schema:
        name = reference_in(schema)
        return self.resolve(self.named(name)) if name else schema

    def answered(self, schema: Schema) -> str:
        """The type of a value in an answer."""
        text = self._answered(schema)
        is_known = text != self.language.anything
        return f"{text} | {self.language.nothing}" if schema.get("nullable") and is_known else text

    def _answered(self, schema: Schema) -> str:
        name = reference_in(schema)
        if name:
            return name if self.is_object(name) else self._answered(self.named(name))
        match schema.get("type"):
            case "array":
                return self.language.array.format(self.answered(schema["items"]))
            case "object":
                return self.language.object
            case "string":
                return self.language.times.get(schema.get("format", ""), self.language.text)
            case str(kind):
                return self.language.scalars[kind]
        return self.language.anything

    def sent(self, schema: Schema) -> str:
        """The type of a value in a request. Null is not sent: such a field is left out."""
        name = reference_in(schema)
        if name:
            return name if self.is_object(name) else self.sent(self.named(name))
        choices = [self.sent(each) for each in schema.get("anyOf") or schema.get("oneOf") or ()]
        if choices:
            return self._sent_choice([each for each in choices if each != self.language.nothing])
        if "enum" in schema:
            return self._sent_enumeration(schema["enum"])
        match schema.get("type"):
            case "array":
                return self.language.sequence.format(self.sent(schema["items"]))
            case "object" if isinstance(schema.get("additionalProperties"), dict):
                inside = self.sent(schema["additionalProperties"])
                return self.language.mapping.format(inside or self.language.anything)
            case "object":
                return self.language.mapping.format(self.language.anything)
            case "string":
                return self.language.text
            case str(kind):
                return self.language.scalars[kind]
        return self.language.anything

    def _sent_choice(self, choices: list[str]) -> str:
        """A form has texts for booleans. Languages have booleans."""
        boolean = self.language.scalars["boolean"]
        if boolean in choices:
            return boolean
        return " | ".join(dict.fromkeys(choices)) or self.language.text

    def _sent_enumeration(self, values: list[Any]) -> str:
        """What a form writes for a boolean is a boolean; a blank text and null are left out."""
        texts = [value for value in values if value not in ("", None)]
        is_flag = any(text is True or text == "true" for text in texts)
        if is_flag or any(isinstance(text, bool | int) for text in texts):
            return self.language.scalars["boolean"]
        if not texts:
            return self.language.nothing
        return self.language.enumeration.format(self.language.between.join(map(repr, texts)))

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
