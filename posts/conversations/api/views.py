"""Endpoints of conversations."""

from typing import Any

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework.serializers import BooleanField, CharField, Serializer

from accounts.api.schema import AccountEntity
from infra.api.endpoint import Endpoint
from infra.api.errors import InvalidRequest
from infra.api.fields import OPTIONAL, TextField
from infra.api.pages import page_response, paging, read_window
from infra.api.parsing import read_limit, read_text
from infra.api.rendering import json_response
from infra.api.request import ApiRequest
from posts.api.schema import StatusEntity
from posts.conversations.actions.edit_conversation import (
    delete_conversation,
    mark,
    mark_read_up_to,
)
from posts.conversations.errors import ConversationNotFound
from posts.conversations.queries.conversations import get_conversation_json, list_conversations
from posts.ids import BASE36_DIGITS, MalformedPostId, PostId

DEFAULT_LIMIT, MOST = 20, 40


class ConversationEntity(Serializer[Any]):
    id = CharField(help_text="The id of the first post of the thread")
    unread = BooleanField()
    accounts = AccountEntity(many=True, help_text="The others in the latest post")
    last_status = StatusEntity()


class ReadBody(Serializer[Any]):
    up_to = TextField(**OPTIONAL, help_text="The id of the latest post that was seen")


class EmptyEntity(Serializer[Any]):
    pass


class ConversationsView(Endpoint):
    """My conversations: threads with direct posts, the latest post first."""

    scopes = {"GET": "read:statuses"}

    @extend_schema(parameters=paging(BASE36_DIGITS), responses=ConversationEntity(many=True))
    def get(self, request: ApiRequest) -> HttpResponse:
        limit = read_limit(request.query_params.get("limit"), DEFAULT_LIMIT, MOST)
        window = read_window(request.query_params, limit, BASE36_DIGITS)
        return page_response(request, list_conversations(request.account_id, window))


class ConversationView(Endpoint):
    """One conversation."""

    scopes = {"GET": "read:statuses", "DELETE": "write:conversations"}

    @extend_schema(responses=ConversationEntity)
    def get(self, request: ApiRequest, conversation_id: PostId) -> HttpResponse:
        """One of my conversations. Mastodon has only the list."""
        return json_response(get_conversation_json(request.account_id, conversation_id))

    @extend_schema(responses={200: EmptyEntity})
    def delete(self, request: ApiRequest, conversation_id: PostId) -> HttpResponse:
        """Take a conversation off your list until its next direct post. Its posts stay."""
        thread = conversation_id.author_id, conversation_id.moment
        if not delete_conversation(request.account_id, *thread):
            raise ConversationNotFound
        return json_response(b"{}")


class ReadConversationView(Endpoint):
    """Mark a conversation as read."""

    scopes = {"POST": "write:conversations"}

    @extend_schema(request=ReadBody, responses=ConversationEntity)
    def post(self, request: ApiRequest, conversation_id: PostId) -> HttpResponse:
        """With `up_to` it stays unread if it has a later post, which you may not have seen."""
        if seen := read_text(request.data, "up_to"):
            mark_read_up_to(request.account_id, conversation_id, _parse(seen))
        else:
            mark(request.account_id, conversation_id, is_unread=False)
        return json_response(get_conversation_json(request.account_id, conversation_id))


class UnreadConversationView(Endpoint):
    """Mark a conversation as unread, also if its latest post is your own."""

    scopes = {"POST": "write:conversations"}

    @extend_schema(request=None, responses=ConversationEntity)
    def post(self, request: ApiRequest, conversation_id: PostId) -> HttpResponse:
        mark(request.account_id, conversation_id, is_unread=True)
        return json_response(get_conversation_json(request.account_id, conversation_id))


def _parse(text: str) -> PostId:
    """Raises: InvalidRequest."""
    try:
        return PostId.from_public(text)
    except MalformedPostId:
        raise InvalidRequest("up_to is not a valid id") from None
