"""Docstrings of what is generated."""

from collections.abc import Iterable
from textwrap import fill

WIDTH = 88


def docstring(text: str, described: Iterable[tuple[str, str]] = ()) -> str:
    """The text, then a line for each name that has one. "": there is nothing to say."""
    paragraphs = [fill(each, WIDTH) for each in text.replace("\\", "/").split("\n\n") if each]
    names = [_line(name, said) for name, said in described if said]
    joined = "\n\n".join([*paragraphs, *(["\n".join(names)] if names else [])])
    if not joined:
        return ""
    return f'"""{joined}\n"""' if "\n" in joined else f'"""{joined}"""'


def _line(name: str, said: str) -> str:
    whole = f"`{name}`: {said.rstrip('.')}."
    return fill(whole.replace("\\", "/"), WIDTH, subsequent_indent="  ")
