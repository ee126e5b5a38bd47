"""Tables of Markdown."""

from collections.abc import Iterable


def table(head: str, rows: Iterable[str]) -> str:
    return "\n".join([head, "|" + "---|" * (head.count("|") - 1), *rows])
