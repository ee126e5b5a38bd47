"""The requests and answers about quotes, for the OpenAPI document only."""

from typing import Any

from rest_framework.serializers import (
    CharField,
    ChoiceField,
    DictField,
    ListField,
    Serializer,
)

from accounts.types import QUOTE_POLICIES

QUOTE_STATES = [
    "accepted", "revoked", "deleted", "unauthorized", "blocked_account", "muted_account",
]  # fmt: skip


class PolicyBody(Serializer[Any]):
    quote_approval_policy = ChoiceField(QUOTE_POLICIES)


class QuoteEntity(Serializer[Any]):
    state = ChoiceField(QUOTE_STATES)
    quoted_status = DictField(
        required=False, allow_null=True, help_text="The whole quoted post; null unless accepted"
    )
    quoted_status_id = CharField(
        required=False, allow_null=True, help_text="Instead of it, in a post that is quoted itself"
    )


class QuoteApprovalEntity(Serializer[Any]):
    automatic = ListField(child=ChoiceField(["public", "followers"]))
    manual = ListField(child=CharField(), help_text="Always empty")
    current_user = ChoiceField(["automatic", "denied"])
