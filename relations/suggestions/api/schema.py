"""The answers of suggestions, for the OpenAPI document only."""

from typing import Any

from drf_spectacular.utils import OpenApiParameter
from rest_framework.serializers import CharField, ListField, Serializer

from accounts.api.schema import AccountEntity
from infra.api.parsing import LIMIT_DIGITS

LIMIT = OpenApiParameter(
    "limit",
    {"type": "integer", "minimum": 0, "maximum": 10**LIMIT_DIGITS - 1},
    description="Most suggestions",
)


class SuggestionEntity(Serializer[Any]):
    source = CharField(help_text="As Mastodon before 4.3 names the reason")  # type: ignore[assignment]
    sources = ListField(child=CharField(), help_text="Why the account is suggested")
    account = AccountEntity()
