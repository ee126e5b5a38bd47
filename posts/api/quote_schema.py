"""Requests and answers about quotes, and who may quote or reply: for the OpenAPI document only."""

from typing import Any

from rest_framework.serializers import (
    CharField,
    ChoiceField,
    DictField,
    ListField,
    Serializer,
)

from accounts.types import QUOTE_POLICIES
from infra.api.fields import OPTIONAL
from posts.actions.check_reply import REPLY_POLICIES

QUOTE_STATES = [
    "accepted", "revoked", "deleted", "unauthorized", "blocked_account", "muted_account",
]  # fmt: skip


class PolicyBody(Serializer[Any]):
    quote_approval_policy = ChoiceField(QUOTE_POLICIES, **OPTIONAL)
    reply_approval_policy = ChoiceField(REPLY_POLICIES, **OPTIONAL)


class QuoteEntity(Serializer[Any]):
    state = ChoiceField(QUOTE_STATES)
    quoted_status = DictField(
        required=False, allow_null=True, help_text="The whole quoted post; null unless accepted"
    )
    quoted_status_id = CharField(
        required=False, allow_null=True, help_text="Instead of it, in a post that is quoted itself"
    )


class _ApprovalEntity(Serializer[Any]):
    manual = ListField(child=CharField(), help_text="Always empty")
    current_user = ChoiceField(["automatic", "denied"])


class QuoteApprovalEntity(_ApprovalEntity):
    automatic = ListField(child=ChoiceField(["public", "followers"]))


class ReplyApprovalEntity(_ApprovalEntity):
    automatic = ListField(child=ChoiceField(REPLY_POLICIES[:-1]))
