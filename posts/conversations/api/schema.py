"""The answers of conversations, for the OpenAPI document only."""

from typing import Any

from rest_framework.serializers import BooleanField, CharField, Serializer

from accounts.api.schema import AccountEntity
from posts.api.schema import StatusEntity


class ConversationEntity(Serializer[Any]):
    id = CharField(help_text="The id of the first post of the thread")
    unread = BooleanField()
    accounts = AccountEntity(many=True, help_text="The others in the latest post")
    last_status = StatusEntity()


class EmptyEntity(Serializer[Any]):
    pass
