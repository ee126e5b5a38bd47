"""Texts of templates, translated when a template is compiled.

Jinja's own extension looks each text up when a page is drawn. A page has hundreds of texts, and
they never change, so here a translation becomes text of the template like any other. A text with
values becomes the texts between them, and a plural becomes an `if`.

See docs/explanation/decisions/0080-pages-are-drawn-by-jinja.md.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from jinja2 import nodes
from jinja2.visitor import NodeTransformer

from infra.translations import Catalog

_VALUE = re.compile(r"%\((\w+)\)s|%%")
ONE, MANY, IN_CONTEXT = ("gettext", "_"), "ngettext", "pgettext"
PLURAL_INDEX = "plural_index"
Pieces = list[nodes.Expr]


class Translating(NodeTransformer):
    """Replaces calls of gettext, ngettext and pgettext in the tree of a template."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    def visit_Output(  # noqa: N802
        self, node: nodes.Output
    ) -> nodes.Node | list[nodes.Node]:
        """Text in the page itself: no value is joined to a text first."""
        before: Pieces = []
        statements: list[nodes.Node] = []
        for child in node.nodes:
            if isinstance(child, nodes.Call) and _name_of(child) == MANY:
                statements += _outputs(before, node.lineno)
                statements.append(self._choice(child))
                before = []
            else:
                before += self._pieces(child)
        statements += _outputs(before, node.lineno)
        return statements[0] if len(statements) == 1 else statements

    def visit_Call(self, node: nodes.Call) -> nodes.Node:  # noqa: N802
        """Text that is a value of something else, as of a filter."""
        name = _name_of(node)
        if name == MANY:
            *first, last = (_join(pieces) for pieces in self._plurals(node))
            whole: nodes.Expr = last
            for index, form in reversed([*enumerate(first)]):
                whole = nodes.CondExpr(self._is_form(node, index), form, whole)
            return whole
        if name in (*ONE, IN_CONTEXT):
            return _join(self._pieces(node))
        return self.generic_visit(node)

    def _pieces(self, node: nodes.Expr) -> Pieces:
        name = _name_of(node) if isinstance(node, nodes.Call) else ""
        if not isinstance(node, nodes.Call) or name not in (*ONE, IN_CONTEXT):
            return [self.visit(node)]
        *context, text = _constants(node)
        translated = self._catalog.text(text, *context)
        return _split(translated, self._values(node))

    def _choice(self, node: nodes.Call) -> nodes.If:
        *first, last = self._plurals(node)
        otherwise: list[nodes.Node] = _outputs(last, node.lineno)
        for index, pieces in reversed([*enumerate(first)]):
            body = _outputs(pieces, node.lineno)
            otherwise = [
                nodes.If(self._is_form(node, index), body, [], otherwise, lineno=node.lineno)
            ]
        return otherwise[0]  # type: ignore[return-value]

    def _plurals(self, node: nodes.Call) -> list[Pieces]:
        singular, plural = _constants(node)
        values = self._values(node)
        return [_split(form, values) for form in self._catalog.forms(singular, plural)]

    def _is_form(self, node: nodes.Call, index: int) -> nodes.Expr:
        number = self.visit(node.args[2])
        form = nodes.Call(nodes.Name(PLURAL_INDEX, "load"), [number], [], None, None)
        return nodes.Compare(form, [nodes.Operand("eq", nodes.Const(index))])

    def _values(self, node: nodes.Call) -> Mapping[str, nodes.Expr]:
        values = {keyword.key: self.visit(keyword.value) for keyword in node.kwargs}
        # Of `{% trans %}` the number has this name in each text.
        if _name_of(node) == MANY:
            values.setdefault("num", self.visit(node.args[2]))
        return values


def _name_of(node: nodes.Call) -> str:
    return node.node.name if isinstance(node.node, nodes.Name) else ""


def _constants(node: nodes.Call) -> list[Any]:
    return [argument.value for argument in node.args if isinstance(argument, nodes.Const)]


def _outputs(pieces: Sequence[nodes.Expr], line: int) -> list[nodes.Node]:
    return [nodes.Output([*pieces], lineno=line)] if pieces else []


def _join(pieces: Pieces) -> nodes.Expr:
    safe = [_as_value(piece) for piece in pieces]
    return safe[0] if len(safe) == 1 else nodes.Concat(safe)


def _as_value(piece: nodes.Expr) -> nodes.Expr:
    """Text of a translation is HTML, as the template's own."""
    if isinstance(piece, nodes.TemplateData):
        return nodes.MarkSafeIfAutoescape(nodes.Const(piece.data))
    return piece


def _split(text: str, values: Mapping[str, nodes.Expr]) -> Pieces:
    """The texts and values of `Post by %(name)s`, in their order."""
    return [*_iter_pieces(text, values)] or [nodes.TemplateData("")]


def _iter_pieces(text: str, values: Mapping[str, nodes.Expr]) -> Iterator[nodes.Expr]:
    at = 0
    for match in _VALUE.finditer(text):
        if before := text[at : match.start()]:
            yield nodes.TemplateData(before)
        yield values[match[1]] if match[1] else nodes.TemplateData("%")
        at = match.end()
    if after := text[at:]:
        yield nodes.TemplateData(after)
