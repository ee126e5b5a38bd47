"""From the OpenAPI document of this checkout to the generated modules of the client."""

import subprocess
import sys
from collections.abc import Iterable, Iterator

from lab.client.methods import AWAITING, BLOCKING, write_methods
from lab.client.models import write_models
from lab.client.naming import Named, name_operations
from lab.client.operations import body_schema_of, read_operation
from lab.client.shapes import TYPESCRIPT, Schema, Shapes
from lab.client.typescript import write_table, write_types
from lab.runner.child import CHECKOUT

FOLDER = CHECKOUT / "client/src/tideline_client"
RUFF = [sys.executable, "-m", "ruff"]


def generated_modules(document: Schema) -> dict[str, str]:
    """The texts of the modules, by their names. Raises: OperationsUnnamed."""
    return {name: _formatted(name, text) for name, text in modules_of(document).items()}


def modules_of(document: Schema) -> dict[str, str]:
    """Raises: OperationsUnnamed."""
    named, shapes = name_operations(document), Shapes(document)
    operations = [read_operation(document, shapes, each) for each in named]
    return {
        "models.py": write_models(
            shapes, _answered(document, shapes, named), _sent(document, shapes, named)
        ),
        "blocking.py": write_methods(BLOCKING, operations),
        "awaiting.py": write_methods(AWAITING, operations),
    }


def npm_files_of(document: Schema) -> dict[str, str]:
    """The generated files of the npm package, by their names. Raises: OperationsUnnamed."""
    named, shapes = name_operations(document), Shapes(document, TYPESCRIPT)
    operations = [read_operation(document, shapes, each) for each in named]
    answered, sent = _answered(document, shapes, named), _sent(document, shapes, named)
    return {
        "operations.js": write_table(operations),
        "operations.d.ts": write_types(shapes, operations, answered, sent),
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
