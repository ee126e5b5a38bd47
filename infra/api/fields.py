"""Fields and parameters of requests, for the OpenAPI document only. See infra.api.parsing."""

from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema_field
from rest_framework.serializers import Field, RegexField

from infra.api.ids import MOST_DIGITS
from infra.api.parsing import FLAG_WORDS
from infra.languages import LANGUAGE_CODE, LONGEST_LANGUAGE

# PostgreSQL's text cannot hold NUL.
TEXT = r"^[^\x00]*$"
_BLANK = r"\x00-\x20\x7f-\xa0\u1680\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\ufeff"
NOT_BLANK = rf"^[^\x00]*[^{_BLANK}][^\x00]*$"
# Null is the same as absent.
OPTIONAL: dict[str, Any] = {"required": False, "allow_null": True}


def flag_schema(*allowed: bool) -> dict[str, Any]:
    """The spellings of these booleans: as JSON, as a word, as a number."""
    words = [word for word, value in FLAG_WORDS.items() if value in allowed]
    return {
        "anyOf": [
            {"type": "boolean", "enum": list(allowed)},
            {"type": "string", "enum": words},
            {"type": "integer", "enum": list(map(int, allowed))},
        ]
    }


class TextField(RegexField):
    """Any text without NUL characters."""

    def __init__(self, **options: Any) -> None:
        super().__init__(TEXT, **options)


class VisibleTextField(RegexField):
    """As TextField, but not blank."""

    def __init__(self, **options: Any) -> None:
        super().__init__(NOT_BLANK, **options)


class LanguageField(RegexField):
    """The code of a language. Empty: of none."""

    def __init__(self, **options: Any) -> None:
        super().__init__(f"^({LANGUAGE_CODE})?$", max_length=LONGEST_LANGUAGE, **options)


@extend_schema_field(flag_schema(False, True))
class FlagField(Field[Any, Any, Any, Any]):
    """True or false, as JSON or as a word."""


@extend_schema_field(flag_schema(True))
class TrueField(Field[Any, Any, Any, Any]):
    """Only true."""


@extend_schema_field({})
class IgnoredField(Field[Any, Any, Any, Any]):
    """Mastodon's parameter that has no meaning here."""


def flag_parameter(name: str, description: str) -> OpenApiParameter:
    """A query parameter that is true or false."""
    schema = {"type": "string", "enum": list(FLAG_WORDS)}
    return OpenApiParameter(name, schema, description=description)


def ids_parameter(name: str, most: int, of: str = "account") -> OpenApiParameter:
    """A query parameter with ids of accounts, or of other things."""
    schema = {"type": "array", "items": {"type": "string"}, "maxItems": most}
    return OpenApiParameter(name, schema, description=f"At most {most} {of} ids")


def cursor_schema(width: int) -> dict[str, Any]:
    """A cursor of so many base36 digits, or any number. Empty means absent."""
    return {"type": "string", "pattern": f"^([0-9]{{1,{MOST_DIGITS}}}|[0-9a-z]{{{width}}})?$"}


def count_schema(most: int) -> dict[str, Any]:
    """A whole number as a number or as text, which is what forms send."""
    digits = len(str(most)) - 1
    return {
        "anyOf": [
            {"type": "integer", "minimum": 0, "maximum": most},
            {"type": "string", "pattern": f"^[0-9]{{0,{digits}}}$"},
        ]
    }
