"""From the OpenAPI document of this checkout to the generated modules of the client."""

import subprocess
import sys
from collections.abc import Iterable, Iterator

from drf_spectacular.generators import SchemaGenerator

from lab.client.methods import AWAITING, BLOCKING, write_methods
from lab.client.models import write_models
from lab.client.names import OF_ACCOUNTS, OF_SERVICES, Named, read_names
from lab.client.operations import body_schema_of, read_operation, unnamed_operations
from lab.client.shapes import Schema, Shapes
from lab.runner.child import CHECKOUT

FOLDER = CHECKOUT / "client/src/tideline_client"
RUFF = [sys.executable, "-m", "ruff"]


class OperationsUnnamed(Exception):
    """lab/client/names.py says nothing about these operations, or names what does not exist."""


def generated_modules() -> dict[str, str]:
    """The texts of the modules, by their names. Raises: OperationsUnnamed."""
    generator = SchemaGenerator()  # type: ignore[no-untyped-call]
    document = generator.get_schema(request=None, public=True)  # type: ignore[no-untyped-call]
    texts = modules_of(document)
    return {name: _formatted(name, text) for name, text in texts.items()}


def modules_of(document: Schema) -> dict[str, str]:
    """Raises: OperationsUnnamed."""
    named = [read_names(OF_ACCOUNTS), read_names(OF_SERVICES)]
    unnamed = unnamed_operations(document, [*named[0], *named[1]])
    if unnamed:
        raise OperationsUnnamed(", ".join(unnamed))
    shapes = Shapes(document)
    operations = [[read_operation(document, shapes, each) for each in part] for part in named]
    everything = [*named[0], *named[1]]
    return {
        "models.py": write_models(
            shapes, _answered(document, shapes, everything), _sent(document, shapes, everything)
        ),
        "blocking.py": write_methods(BLOCKING, *operations),
        "awaiting.py": write_methods(AWAITING, *operations),
    }


def _answered(document: Schema, shapes: Shapes, named: Iterable[Named]) -> Iterator[str]:
    for each in named:
        answer = document["paths"][each.path][each.verb.lower()]["responses"].get("200", {})
        for content in answer.get("content", {}).values():
            yield from shapes.names_in(content["schema"])


def _sent(document: Schema, shapes: Shapes, named: Iterable[Named]) -> Iterator[str]:
    """Objects inside of bodies. A body itself is the arguments of a method."""
    for each in named:
        body = body_schema_of(document["paths"][each.path][each.verb.lower()])
        for field in shapes.resolve(body).get("properties", {}).values() if body else ():
            yield from shapes.names_in(field)


def _formatted(name: str, text: str) -> str:
    """As `make check` wants it."""
    for command in (["check", "--fix", "--exit-zero", "--quiet"], ["format", "--quiet"]):
        argv = [*RUFF, *command, "--stdin-filename", str(FOLDER / name), "-"]
        text = subprocess.run(
            argv, input=text, capture_output=True, text=True, cwd=CHECKOUT, check=True
        ).stdout
    return text
