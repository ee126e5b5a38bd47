"""How the OpenAPI document is generated."""

import re
from collections.abc import Mapping
from typing import Any, ClassVar

from django.urls import converters
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import OpenApiResponse

TOKEN_REFUSED = {
    "401": "The token is missing, unknown, ended or expired",
    "403": "The login is disabled, the account is frozen, or this is not allowed",
}
NOT_FOUND = {"404": "It does not exist, or the caller may not see it"}
INVALID = {"422": "A parameter is wrong, or the token has no user; `error` names the parameter"}
BODY_REFUSED = {
    "400": "The body is not a JSON object, or not a readable form",
    "413": "The body is too large",
    "415": "The body has another content type than JSON or a form",
}
TRY_LATER = {"429": "A quota is used up", "503": "A store does not answer"}
ERROR = {
    "type": "object",
    "properties": {"error": {"type": "string"}, "details": {"type": "object"}},
    "required": ["error"],
}
_RETRY = {"Retry-After": {"schema": {"type": "string", "pattern": "^[0-9]+$"}, "required": True}}
FORMS = {"application/x-www-form-urlencoded", "multipart/form-data"}
NULL = {"$ref": "#/components/schemas/NullEnum"}
_PLACEHOLDER = re.compile(r"<(\w+):(\w+)>")


def error_response(description: str) -> OpenApiResponse:
    """An error that is special to an endpoint, for `extend_schema`."""
    return OpenApiResponse(ERROR, description)


class ApiSchema(AutoSchema):
    """Component names without the suffix of the schema class: `AccountEntity` is `Account`.

    The suffix keeps a schema class apart from the model of the same name. Each operation lists the
    errors that its kind can answer, and the texts that its route matches.
    """

    # Placeholders of routes are numbers or texts of these converters.
    SIMPLE: ClassVar[dict[str, str]] = {"int": "[0-9]+", "str": "[^/]+"}

    def get_serializer_name(self, serializer: Any, direction: Any) -> str:
        name: str = super().get_serializer_name(serializer, direction)
        return name.removesuffix("Entity").removesuffix("Body")

    def get_operation_id(self) -> str:
        """Two versions of an endpoint have the same path but for the number of the API.

        A view has a suffix if it does for many things what another view does for one.
        """
        name: str = super().get_operation_id()
        name += "_v2" if self.path.startswith("/api/v2/") else ""
        return name + str(getattr(self.view, "operation_suffix", ""))

    def get_operation(self, *args: Any, **kwargs: Any) -> Any:
        operation = super().get_operation(*args, **kwargs)
        if operation:
            errors = self._errors(operation)
            operation["responses"] = errors | operation["responses"]
        return operation

    def _resolve_path_parameters(self, variables: Any) -> Any:
        parameters = super()._resolve_path_parameters(variables)  # type: ignore[no-untyped-call]
        patterns = {name: self._pattern(kind) for kind, name in _PLACEHOLDER.findall(self._route())}
        for parameter in parameters:
            if parameter["name"] in patterns:
                parameter["schema"] = {"type": "string", "pattern": patterns[parameter["name"]]}
        return parameters

    def _route(self) -> str:
        return str(self.path_regex)

    def _pattern(self, kind: str) -> str:
        regex = self.SIMPLE.get(kind) or converters.get_converters()[kind].regex
        return f"^{regex}$"

    def _errors(self, operation: dict[str, Any]) -> dict[str, Any]:
        places = {parameter["in"] for parameter in operation.get("parameters", [])}
        has_body = "requestBody" in operation
        takes_token = bool(operation.get("security"))
        described = {
            **(TOKEN_REFUSED if takes_token else {}),
            **(NOT_FOUND if "path" in places else {}),
            **(BODY_REFUSED if has_body else {}),
            **(INVALID if takes_token or has_body or places - {"path"} else {}),
            **TRY_LATER,
        }
        return {status: _error(status, text) for status, text in described.items()}


def _error(status: str, description: str) -> dict[str, Any]:
    content = {"application/json": {"schema": ERROR}}
    headers = {"headers": _RETRY} if status in TRY_LATER else {}
    return {"description": description, "content": content, **headers}


def describe_forms(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """Forms have components of their own: a form cannot send null, and its names are flat."""
    components = result["components"]["schemas"]
    for path in result["paths"].values():
        for operation in path.values():
            content = operation.get("requestBody", {}).get("content", {})
            for media in content.keys() & FORMS:
                name = content[media]["schema"]["$ref"].rpartition("/")[2]
                flat = _flatten(components[name], components)
                components[f"{name}Form"] = _without_null(flat)
                content[media]["schema"] = {"$ref": f"#/components/schemas/{name}Form"}
    return result


def put_discovery_last(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """The paths of the API come first: /.well-known and NodeInfo are read by other servers."""
    paths = result["paths"]
    order = sorted(paths, key=lambda path: not path.startswith("/api/"))
    return {**result, "paths": {path: paths[path] for path in order}}


def _flatten(body: dict[str, Any], components: Mapping[str, Any]) -> dict[str, Any]:
    """The body with `source[privacy]` in place of `source`, and without lists of objects.

    The names of those have numbers, which a schema cannot say.
    """
    properties: dict[str, Any] = {}
    for name, schema in body.get("properties", {}).items():
        parts = _resolve(schema, components).get("properties")
        if parts is not None:
            properties |= {f"{name}[{part}]": inner for part, inner in parts.items()}
        elif "properties" not in _resolve(schema.get("items", {}), components):
            properties[name] = schema
    return body | {"properties": properties}


def _resolve(schema: dict[str, Any], components: Mapping[str, Any]) -> dict[str, Any]:
    """The component that the schema names, else the schema."""
    named = schema if "$ref" in schema else next(iter(schema.get("allOf", [])), {})
    name = named.get("$ref", "").rpartition("/")[2]
    return components.get(name, schema)


def _without_null(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_without_null(item) for item in schema if item != NULL]
    if isinstance(schema, dict):
        return {k: _without_null(v) for k, v in schema.items() if (k, v) != ("nullable", True)}
    return schema
