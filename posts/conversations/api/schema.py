"""The bodies and answers of conversations, for the OpenAPI document only."""

from typing import Any

from rest_framework.serializers import BooleanField, CharField, Serializer

from accounts.api.schema import AccountEntity
from infra.api.fields import OPTIONAL, TextField
from posts.api.schema import StatusEntity


class ConversationEntity(Serializer[Any]):
    id = CharField(help_text="The id of the first post of the thread")
    unread = BooleanField()
    accounts = AccountEntity(many=True, help_text="The others in the latest post")
    last_status = StatusEntity()


class ReadBody(Serializer[Any]):
    up_to = TextField(**OPTIONAL, help_text="The id of the latest post that was seen")


class EmptyEntity(Serializer[Any]):
    pass
