"""Reading what clients send about accounts."""

from collections.abc import Mapping
from typing import Any

from infra.api.parsing import clean_text


def read_text(data: Mapping[str, Any], name: str) -> str:
    """The text sent under this name, empty when absent. Raises InvalidRequest."""
    value = data.get(name)
    return "" if value is None else clean_text(value, name)


def find_text(data: Mapping[str, Any], name: str) -> str | None:
    """As read_text, but None when absent."""
    return read_text(data, name) if data.get(name) is not None else None
