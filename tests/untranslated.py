"""Finds texts that people read and no language can change: in templates, Python and scripts."""

import ast
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

from jinja2 import Environment, nodes

# What these get is translated.
FUNCTIONS = frozenset({"_", "gettext", "ngettext", "pgettext", "gettext_lazy", "gettext_noop"})
ATTRIBUTES = frozenset({"title", "aria-label", "aria-description", "placeholder", "alt", "label"})
# Names, signs and examples, which are the same in all languages.
SAME = frozenset({"Tideline", "Deutsch", "English", "light dark"})
# Blocks that are parts of a tag.
OF_TAGS = frozenset({"action", "back", "form", "layout"})
_WORD = re.compile(r"[^\W\d_]{2,}")
# A sentence, or a single word with a capital letter.
_SENTENCE = re.compile(r"[a-z,”][.,:]? [a-zA-Z“]|^[A-Z][a-z]+[.…?!]?$|^\d+ [a-z]+$")
_SCRIPT_TEXT = re.compile(r"""(\w*)\(?(["'`])((?:(?!\2)[^\\\n]|\\.)*)\2""")
_SCRIPT_SENTENCE = re.compile(r"^[A-Z][a-z]+(?: [a-z]+)+[.?]?$|>[A-Z][a-z]+[^<$]*<")
_VALUE = "\u00a7"
ENVIRONMENT = Environment(extensions=["jinja2.ext.i18n"], autoescape=True)


def of_template(source: str) -> list[str]:
    """Texts between tags and in attributes, and sentences in expressions."""
    tree = ENVIRONMENT.parse(source)
    parser = _Texts()
    parser.feed("".join(_html_of(tree)))
    parser.close()
    return [*parser.found, *_constants(tree)]


class _Texts(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_data(self, data: str) -> None:
        if _WORD.search(data):
            self.found.append(data.strip())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [
            f"{name}={text}"
            for name, text in attrs
            if name in ATTRIBUTES and text and _WORD.search(text)
        ]


def _html_of(node: nodes.Node) -> Iterator[str]:
    """What a template says itself, in the order of the source. A sign is in place of each value."""
    if isinstance(node, nodes.TemplateData):
        yield node.data
    elif isinstance(node, nodes.Block) and node.name in OF_TAGS:
        return
    elif isinstance(node, nodes.Expr):
        yield _VALUE
    else:
        for child in node.iter_child_nodes():
            if isinstance(child, nodes.Stmt | nodes.TemplateData) or isinstance(node, nodes.Output):
                yield from _html_of(child)


def _constants(node: nodes.Node) -> Iterator[str]:
    if isinstance(node, nodes.Call) and getattr(node.node, "name", "") in FUNCTIONS:
        for keyword in node.kwargs:
            yield from _constants(keyword)
        return
    text = node.value if isinstance(node, nodes.Const) else ""
    if isinstance(text, str) and _SENTENCE.search(text) and text not in SAME:
        yield text
    for child in node.iter_child_nodes():
        yield from _constants(child)


def of_python(source: str) -> list[str]:
    """Sentences that are no docstring, no part of a translation, and no text of an error."""
    tree = ast.parse(source)
    left_out = {id(part) for node in ast.walk(tree) if _is_known(node) for part in ast.walk(node)}
    return [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and id(node) not in left_out
        and _SENTENCE.search(node.value)
    ]


def _is_known(node: ast.AST) -> bool:
    """A translation, a docstring, or a text that is raised: test_refusals is about those."""
    if isinstance(node, ast.Call):
        return getattr(node.func, "id", "") in FUNCTIONS
    is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    return is_text or isinstance(node, ast.Raise)


def of_script(source: str) -> list[str]:
    """Sentences in quotes that are not given to gettext or ngettext."""
    code = re.sub(r"/\*.*?\*/", "", source, flags=re.DOTALL)
    code = re.sub(r"n?gettext\(([\"][^\"]*\"(?:, )?)+", "gettext(", code)
    return [
        match[3]
        for match in _SCRIPT_TEXT.finditer(code)
        if _SCRIPT_SENTENCE.search(match[3]) and match[3] not in SAME
    ]


def files(folder: Path, ending: str) -> Iterator[tuple[str, str]]:
    """The names and texts of files below a folder."""
    for path in sorted(folder.rglob(f"*{ending}")):
        yield path.relative_to(folder).as_posix(), path.read_text()
