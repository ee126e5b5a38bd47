"""Routes of conversations. The id of a conversation is that of the first post of its thread."""

from django.urls import path

from posts.conversations.api.views import (
    ConversationsView,
    ConversationView,
    ReadConversationView,
    UnreadConversationView,
)

ONE = "api/v1/conversations/<post:conversation_id>"

urlpatterns = [
    path("api/v1/conversations", ConversationsView.as_view()),
    path(ONE, ConversationView.as_view()),
    path(f"{ONE}/read", ReadConversationView.as_view()),
    path(f"{ONE}/unread", UnreadConversationView.as_view()),
]
