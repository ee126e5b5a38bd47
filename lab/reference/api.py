"""The operations of the API, one row each."""

from lab.accept.facts import openapi_document
from lab.reference.tables import table


def endpoint_rows() -> str:
    """Method, path and first line of the description."""
    rows = [
        f"| `{method.upper()}` | `{path}` | {operation.get('description', '').split(chr(10))[0]} |"
        for path, methods in openapi_document()["paths"].items()
        for method, operation in methods.items()
        if "responses" in operation
    ]
    return table("| method | path | what it does |", rows)
