"""The requests and answers of moderation, for the OpenAPI document only."""

from typing import Any

from drf_spectacular.utils import extend_schema_serializer
from rest_framework.serializers import (
    BooleanField,
    CharField,
    ChoiceField,
    DateTimeField,
    ListField,
    Serializer,
)

from accounts.api.schema import AccountEntity
from infra.api.fields import OPTIONAL, IgnoredField, TextField, VisibleTextField
from infra.api.openapi import error_response
from moderation.api.parse import MOST_POSTS, MOST_RULES
from moderation.models import APPEAL_LENGTH, COMMENT_LENGTH
from moderation.types import Category
from notifications.api.schema import DecisionEntity


@extend_schema_serializer(component_name="NewReport")
class ReportBody(Serializer[Any]):
    account_id = CharField()
    status_ids = ListField(
        child=CharField(), max_length=MOST_POSTS, help_text="Posts of that account", **OPTIONAL
    )
    comment = TextField(max_length=COMMENT_LENGTH, **OPTIONAL)
    category = ChoiceField([category.value for category in Category], allow_blank=True, **OPTIONAL)
    forward = IgnoredField(required=False, help_text="Ignored: there are no other servers")
    rule_ids = ListField(
        child=CharField(),
        max_length=MOST_RULES,
        help_text="Rules of the site. They make the report a violation",
        **OPTIONAL,
    )


NO_ACCOUNT = error_response("No such account, or an id that is no post of the account")


@extend_schema_serializer(component_name="Report")
class ReportEntity(Serializer[Any]):
    id = CharField()
    action_taken = BooleanField()
    action_taken_at = DateTimeField(allow_null=True)
    category = CharField()
    comment = CharField(allow_blank=True)
    forwarded = BooleanField()
    created_at = DateTimeField()
    status_ids = ListField(child=CharField(), allow_null=True)
    rule_ids = ListField(child=CharField(), allow_null=True)
    target_account = AccountEntity()


@extend_schema_serializer(component_name="NewAppeal")
class AppealBody(Serializer[Any]):
    text = VisibleTextField(max_length=APPEAL_LENGTH, help_text="Why the decision should be undone")


@extend_schema_serializer(component_name="Strike")
class StrikeEntity(DecisionEntity):
    action = CharField(
        help_text="none (a warning), silence, disable, suspend, hide_statuses, hide_images or"
        " delete_statuses"
    )
    status_text = CharField(
        allow_null=True,
        help_text="The text of the post, unless it is deleted. Mastodon has no such",
    )
