"""How the OpenAPI document is generated."""

from typing import Any

from drf_spectacular.openapi import AutoSchema


class ApiSchema(AutoSchema):
    """Component names without the suffix of the schema class: `AccountEntity` is `Account`.

    The suffix keeps a schema class apart from the model of the same name.
    """

    def get_serializer_name(self, serializer: Any, direction: Any) -> str:
        name: str = super().get_serializer_name(serializer, direction)
        return name.removesuffix("Entity").removesuffix("Body")
