"""JSON in, and the values every endpoint reads the same way."""

from collections.abc import Mapping
from io import BytesIO
from typing import IO, Any

import msgspec
from django.http import HttpRequest
from django.utils.http import parse_header_parameters
from rest_framework.exceptions import ParseError
from rest_framework.parsers import BaseParser, MultiPartParser

from infra.api.errors import InvalidRequest

# As Mastodon reads them. Other words are refused: Mastodon would take each of them for true.
FLAG_WORDS = dict.fromkeys(("1", "t", "true", "on", "yes"), True) | dict.fromkeys(
    ("0", "f", "false", "off", "no", ""), False
)

LIMIT_DIGITS = 9
# Of lists and objects. No endpoint reads more than four levels.
MOST_DEPTH = 32
_TOO_DEEP = f"The body is nested more than {MOST_DEPTH} levels deep"


class JsonParser(BaseParser):
    media_type = "application/json"

    def parse(
        self,
        stream: IO[Any] | HttpRequest,
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        """The body as an object. Raises ParseError for anything else, lone surrogates included."""
        body = self.read_body(stream)
        value = _decode(body) if body else {}
        if not isinstance(value, dict):
            raise ParseError("The body is not a JSON object")
        return value

    def read_body(self, stream: IO[Any] | HttpRequest) -> bytes:
        """The whole body. Django refuses to read more than DATA_UPLOAD_MAX_MEMORY_SIZE of it."""
        return stream.body if isinstance(stream, HttpRequest) else stream.read()


class UploadJsonParser(JsonParser):
    """For endpoints that take files as text: their limit is checked before."""

    def read_body(self, stream: IO[Any] | HttpRequest) -> bytes:
        return stream.read()


def _decode(body: bytes) -> Any:
    """Raises ParseError. The recursion limit of the interpreter, which bounds the decoder, differs
    between versions of Python, so the depth of the value is bounded here."""
    try:
        # orjson makes a float of an integer above 64 bits, such as a post id.
        value = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ParseError(f"The body is not valid JSON: {error}") from None
    except RecursionError:
        raise ParseError(_TOO_DEEP) from None
    if _is_deeper_than(MOST_DEPTH, value):
        raise ParseError(_TOO_DEEP)
    return value


def _is_deeper_than(most: int, value: Any) -> bool:
    """Whether lists and objects are nested deeper. Cost: one pass over those, level by level."""
    level = [value]
    for _ in range(most + 1):
        level = [
            inner
            for outer in level
            if isinstance(outer, dict | list)
            for inner in (outer.values() if isinstance(outer, dict) else outer)
        ]
        if not level:
            return False
    return True


class WholeMultiPartParser(MultiPartParser):
    def parse(
        self,
        stream: IO[Any] | HttpRequest,
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        """The form. Raises ParseError unless it begins with the boundary of the header, and for a
        body without any part.

        Django reads such bodies as an empty form, or takes another boundary for part of a field.
        """
        body = self.read_body(stream)
        parsed = super().parse(BytesIO(body), media_type, parser_context)
        boundary = parse_header_parameters(media_type or "")[1]["boundary"].encode()
        is_empty = body.strip() == b"--%b--" % boundary  # as browsers send a form without fields
        if not body.lstrip().startswith(b"--" + boundary):
            raise ParseError("The body does not begin with the boundary of its Content-Type")
        if not is_empty and not parsed.data and not parsed.files:
            raise ParseError("The multipart body has no part")
        return parsed

    def read_body(self, stream: IO[Any] | HttpRequest) -> bytes:
        """The whole body, at most DATA_UPLOAD_MAX_MEMORY_SIZE."""
        return stream.body if isinstance(stream, HttpRequest) else stream.read()


class UploadParser(WholeMultiPartParser):
    """For endpoints that take files: their limit is checked before the request is served."""

    def read_body(self, stream: IO[Any] | HttpRequest) -> bytes:
        return stream.read()


def clean_text(value: object, name: str) -> str:
    """Text as PostgreSQL and JSON can hold it. Raises InvalidRequest for NUL or lone surrogates."""
    if not isinstance(value, str):
        raise InvalidRequest(f"{name} must be text")
    if "\x00" in value:
        raise InvalidRequest(f"{name} must not contain NUL characters")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise InvalidRequest(f"{name} is not valid Unicode") from None
    return value


def read_text(data: Mapping[str, Any], name: str) -> str:
    """The text sent under this name, empty when absent. Raises InvalidRequest."""
    value = data.get(name)
    return "" if value is None else clean_text(value, name)


def find_text(data: Mapping[str, Any], name: str) -> str | None:
    """As read_text, but None when absent."""
    return read_text(data, name) if data.get(name) is not None else None


def read_flag(data: Mapping[str, Any], name: str, default: bool = False) -> bool:
    """The boolean sent under this name, `default` when absent. Raises InvalidRequest."""
    value = find_flag(data, name)
    return default if value is None else value


def find_flag(data: Mapping[str, Any], name: str) -> bool | None:
    """As read_flag, but None when absent. Upper and lower case are the same."""
    value = data.get(name)
    if value is None or isinstance(value, bool):
        return value
    word = str(value).lower() if isinstance(value, int | str) else None
    if word not in FLAG_WORDS:
        raise InvalidRequest(f"{name} must be true or false")
    return FLAG_WORDS[word]


def read_count(data: Mapping[str, Any], name: str, most: int) -> int:
    """The whole number sent under this name, 0 when absent. Raises InvalidRequest beyond 0…most."""
    value = data.get(name)
    text = "" if value is None else str(value)
    if value is None or text == "":
        return 0
    if not text.isascii() or not text.isdigit() or len(text) > 18 or int(text) > most:
        raise InvalidRequest(f"{name} must be a number from 0 to {most}")
    return int(text)


def read_limit(value: object, default: int, most: int) -> int:
    """A page size between 1 and `most`. Raises InvalidRequest for anything but a number."""
    if value is None:
        return default
    text = str(value)
    if not text.isascii() or not text.isdigit() or len(text) > LIMIT_DIGITS:
        raise InvalidRequest("limit must be a number")
    return max(1, min(int(text), most))
