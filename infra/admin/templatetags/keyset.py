"""The rows of a list in the admin, each cell with the name of its column."""

from collections.abc import Iterator
from typing import Any

from django import template
from django.contrib.admin.templatetags.admin_list import result_headers, results
from django.utils.html import conditional_escape, format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.text import capfirst

register = template.Library()


@register.inclusion_tag("keyset/results.html")
def keyset_results(cl: Any) -> dict[str, Any]:
    """The table of a list. On a phone each row is a card, and each line of it names its column."""
    headers = list(result_headers(cl))
    names = [_name_of(header) for header in headers]
    rows = [[*_named(names, row)] for row in results(cl)]
    return {"headers": headers, "rows": rows, "empty_text": cl.model_admin.empty_text}


def _name_of(header: dict[str, Any]) -> str:
    """Empty for the column in which rows are chosen."""
    is_choice = "action-checkbox-column" in str(header.get("class_attrib", ""))
    return "" if is_choice else capfirst(str(header["text"]))


def _named(names: list[str], cells: list[str]) -> Iterator[SafeString]:
    """Django renders whole cells, so the name goes into the tag: `<td data-label="State" …>`."""
    for name, cell in zip(names, cells, strict=True):
        tag, text = conditional_escape(cell)[:3], conditional_escape(cell)[3:]
        label = format_html(' data-label="{}"', name) if name else ""
        yield mark_safe(f"{tag}{label}{text}")  # noqa: S308 # nosec B308 B703
