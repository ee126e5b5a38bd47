"""Writes `blocking.py` and `awaiting.py` of the client: a class for each group of operations."""

from collections.abc import Sequence
from itertools import groupby
from textwrap import indent
from typing import NamedTuple

from lab.client.operations import CURSORS, ApiOperation, Parameter
from lab.client.texts import docstring


class Flavour(NamedTuple):
    """How methods are written that block, or that are awaited."""

    prefix: str
    define: str
    wait: str


BLOCKING = Flavour("", "def", "")
AWAITING = Flavour("Async", "async def", "await ")

HEAD = '''"""The calls of Tideline's API. Generated from its OpenAPI document: do not edit."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal
from uuid import uuid4

from tideline_client.calls import Call, body_of, path_part, query_of
from tideline_client.connections import {prefix}Connection
from tideline_client import models
from tideline_client.pages import {prefix}Pages, PageReader
'''
GROUP = '''
class {name}:
    """{text}"""

    def __init__(self, connection: {prefix}Connection) -> None:
        self._connection = connection
'''


def write_methods(flavour: Flavour, operations: Sequence[ApiOperation]) -> str:
    """Operations of a group follow each other."""
    groups = _groups(operations)
    classes = [_group(flavour, group) for group in groups]
    of_accounts = [group[0].named for group in groups if not group[0].named.is_of_services]
    root = _root(flavour, [named.group for named in of_accounts])
    return "\n\n".join([HEAD.format(prefix=flavour.prefix), *classes, root])


def _groups(operations: Sequence[ApiOperation]) -> list[list[ApiOperation]]:
    return [list(group) for _, group in groupby(operations, lambda each: each.named.group)]


def class_of(flavour: Flavour, group: str) -> str:
    return f"{flavour.prefix}{group.title().replace('_', '')}Calls"


def _group(flavour: Flavour, operations: Sequence[ApiOperation]) -> str:
    group = operations[0].named.group
    text = f"Calls about {group.replace('_', ' ')}."
    name = class_of(flavour, group)
    head = GROUP.format(name=name, text=text, prefix=flavour.prefix)
    return head + "\n".join(indent(_method(flavour, each), "    ") for each in operations)


def _root(flavour: Flavour, groups: Sequence[str]) -> str:
    text = "What can be read and done as one account."
    name = f"{flavour.prefix}AccountCalls"
    head = GROUP.format(name=name, text=text, prefix=flavour.prefix)
    made = [f"self.{group} = {class_of(flavour, group)}(connection)" for group in groups]
    return head + indent("\n".join(made), "        ")


def _method(flavour: Flavour, operation: ApiOperation) -> str:
    lines = [*_call_of(operation), _result(flavour, operation)]
    text = docstring(
        operation.text,
        [(each.name, each.text) for each in operation.parameters if each.name not in CURSORS],
    )
    body = "\n".join([*([text] if text else []), *lines])
    return f"{_signature(flavour, operation)}\n{indent(body, '    ')}\n"


def _signature(flavour: Flavour, operation: ApiOperation) -> str:
    first = [each for each in operation.parameters if each.is_required]
    later = [each for each in operation.parameters if not each.is_required]
    arguments = ["self", *(f"{each.name}: {_annotation(each)}" for each in first)]
    if later:
        arguments += ["*", *(f"{each.name}: {_annotation(each)} | None = None" for each in later)]
    if operation.item:
        answer = f"{flavour.prefix}Pages[{_qualified(operation.item)}]"
        define = "def"
    else:
        answer, define = _qualified(operation.answer), flavour.define
    return f"{define} {operation.named.method}({', '.join(arguments)}) -> {answer}:"


def _call_of(operation: ApiOperation) -> list[str]:
    named = operation.named
    arguments = [f'"{named.verb}"', _path(operation)]
    arguments.append("type(None)" if operation.answer == "None" else _qualified(operation.answer))
    if operation.at("query"):
        arguments.append(f"query=query_of({_mapping(operation.at('query'))})")
    if operation.at("body"):
        fields = [each for each in operation.at("body") if each.type != "bytes"]
        arguments.append(f"body=body_of({_mapping(fields)})")
    if operation.has_files:
        files = [each for each in operation.at("body") if each.type == "bytes"]
        arguments.append(f"files=body_of({_mapping(files)})")
    lines, is_repeatable = [], named.is_repeatable
    if any(each.name == "idempotency_key" for each in operation.parameters):
        lines.append('headers = {"Idempotency-Key": idempotency_key or uuid4().hex}')
        arguments.append("headers=headers")
        is_repeatable = True
    if is_repeatable:
        arguments.append("is_repeatable=True")
    return [*lines, f"call = Call({', '.join(arguments)})"]


def _result(flavour: Flavour, operation: ApiOperation) -> str:
    if operation.item:
        field = f', "{operation.page_field}"' if operation.page_field else ""
        return f"return self._connection.pages(PageReader(call{field}))"
    return f"return {flavour.wait}self._connection.send(call)"


def _path(operation: ApiOperation) -> str:
    path = operation.named.path
    for each in operation.at("path"):
        path = path.replace(f"{{{each.sent_as}}}", f"{{path_part({each.name})}}")
    return f'f"{path}"' if "{" in path else f'"{path}"'


def _mapping(parameters: Sequence[Parameter]) -> str:
    return "{" + ", ".join(f'"{each.sent_as}": {each.name}' for each in parameters) + "}"


def _annotation(parameter: Parameter) -> str:
    kind = parameter.type
    return _qualified(kind)


BUILTIN = {"Any", "Sequence", "Mapping", "Literal", "None"}


def _qualified(kind: str) -> str:
    """Models are named with their module, because groups and models have like names."""
    words: list[str] = []
    for part in _split(kind):
        is_model = part[:1].isupper() and part.isalnum() and part not in BUILTIN
        words.append(f"models.{part}" if is_model else part)
    return "".join(words)


def _split(kind: str) -> list[str]:
    """Words and what is between them. Texts of a Literal are one word."""
    if kind.startswith("Literal"):
        return [kind]
    parts, word = [], ""
    for letter in kind:
        if letter.isalnum() or letter == "_":
            word += letter
            continue
        parts += [word, letter]
        word = ""
    return [*parts, word]
