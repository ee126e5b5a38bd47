"""The shapes of moderation's requests and answers, for the OpenAPI schema only."""

from typing import Any

from rest_framework.serializers import BooleanField, CharField, DateTimeField, ListField, Serializer

from accounts.api.schema import Account


class NewReport(Serializer[Any]):
    account_id = CharField()
    status_ids = ListField(child=CharField(), required=False, help_text="Posts of that account")
    comment = CharField(required=False, help_text="At most 1,000 characters")
    category = CharField(required=False, help_text="spam, legal, violation or other")
    forward = BooleanField(required=False, help_text="Ignored: there are no other servers")
    rule_ids = ListField(child=CharField(), required=False, help_text="Ignored: there are no rules")


class Report(Serializer[Any]):
    id = CharField()
    action_taken = BooleanField()
    action_taken_at = DateTimeField(allow_null=True)
    category = CharField()
    comment = CharField(allow_blank=True)
    forwarded = BooleanField()
    created_at = DateTimeField()
    status_ids = ListField(child=CharField(), allow_null=True)
    rule_ids = ListField(child=CharField(), allow_null=True)
    target_account = Account()


class NewAppeal(Serializer[Any]):
    text = CharField(help_text="Why it should be undone; at most 2,000 characters")


class Appeal(Serializer[Any]):
    text = CharField()
    state = CharField(help_text="pending, approved or rejected")


class Strike(Serializer[Any]):
    id = CharField()
    action = CharField(
        help_text="none (a warning), silence, disable, suspend, hide_statuses or delete_statuses"
    )
    text = CharField(help_text="The reason that moderators gave")
    status_ids = ListField(child=CharField(), allow_null=True)
    appeal = Appeal(allow_null=True)
    created_at = DateTimeField()
    target_account = Account()
