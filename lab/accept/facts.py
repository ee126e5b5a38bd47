"""All files that `make accept` writes."""

from pathlib import Path
from typing import Any

from drf_spectacular.generators import SchemaGenerator

from lab.accept.functions import installed_functions
from lab.accept.routes import list_endpoints, list_pages
from lab.client.generate import FOLDER, generated_modules
from lab.client.naming import name_operations
from lab.messages.update import messages
from lab.runner.child import CHECKOUT

RECORDS = CHECKOUT / "tests/accepted"


def facts() -> dict[Path, bytes]:
    """What each file has to contain. Raises: OperationsUnnamed."""
    document = openapi_document()
    client = {FOLDER / name: text.encode() for name, text in generated_modules(document).items()}
    records = {
        "endpoints.txt": list_endpoints(name_operations(document)),
        "pages.txt": list_pages(),
        "functions.txt": installed_functions(),
    }
    recorded = {RECORDS / name: "\n".join([*lines, ""]) for name, lines in records.items()}
    return client | messages() | {path: text.encode() for path, text in recorded.items()}


def openapi_document() -> Any:
    return SchemaGenerator().get_schema(request=None, public=True)  # type: ignore[no-untyped-call]
