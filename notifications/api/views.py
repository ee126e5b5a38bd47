"""Notifications over HTTP, one by one (v1). Callers see and change only their own.

Notifications over HTTP in groups (v2). Callers see and change only their own.
"""

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema

from accounts.api.schema import AccountEntity
from infra import clock
from infra.api.endpoint import Endpoint
from infra.api.pages import Page, object_page_response, page_response, paging
from infra.api.rendering import json_response
from infra.api.request import ApiRequest
from infra.caching.questions import answer, ask_both
from notifications.actions.dismiss import clear, dismiss_group, dismiss_notification
from notifications.api import schema
from notifications.api.parse import (
    read_grouped_types,
    read_is_partial,
    read_page_window,
    read_selection,
    read_unread_limit,
    read_with_conversations,
)
from notifications.api.present import join, present_groups, present_notification
from notifications.errors import NotificationNotFound
from notifications.groups import GroupKey
from notifications.queries.groups import ViewedGroup, count_groups, find_group, list_groups
from notifications.queries.pages import (
    ask_unread_range,
    count_unread_notifications,
    find_notification,
    list_notifications,
)
from posts.conversations.cache import ask_unread
from posts.conversations.queries.conversations import count_visible

NOTHING = b"{}"
READ, WRITE = "read:notifications", "write:notifications"


class NotificationsView(Endpoint):
    """My notifications, the newest first."""

    scopes = {"GET": READ}

    @extend_schema(
        parameters=[*paging(0), *schema.SELECTION, schema.SUPPORTED_TYPES],
        responses=schema.NotificationEntity(many=True),
    )
    def get(self, request: ApiRequest) -> HttpResponse:
        selection, window = read_selection(request), read_page_window(request)
        page = list_notifications(request.account_id, selection, window, clock.now_ms())
        items = [present_notification(item) for item in page.items]
        return page_response(request, Page(items, page.older, page.newer))


class NotificationView(Endpoint):
    """One of my notifications."""

    scopes = {"GET": READ}

    @extend_schema(parameters=[schema.SUPPORTED_TYPES], responses=schema.NotificationEntity)
    def get(self, request: ApiRequest, notification_id: int) -> HttpResponse:
        notification = find_notification(request.account_id, notification_id, clock.now_ms())
        if notification is None:
            raise NotificationNotFound
        return json_response(present_notification(notification))


class DismissView(Endpoint):
    """Remove one notification from my list."""

    scopes = {"POST": WRITE}

    @extend_schema(request=None, responses=schema.NothingEntity)
    def post(self, request: ApiRequest, notification_id: int) -> HttpResponse:
        if not dismiss_notification(request.account_id, notification_id):
            raise NotificationNotFound
        return json_response(NOTHING)


class ClearView(Endpoint):
    """Remove all notifications from my list."""

    scopes = {"POST": WRITE}

    @extend_schema(request=None, responses=schema.NothingEntity)
    def post(self, request: ApiRequest) -> HttpResponse:
        clear(request.account_id)
        return json_response(NOTHING)


class UnreadCountView(Endpoint):
    """How many notifications came after my marker of notifications, at most `limit`."""

    scopes = {"GET": READ}

    @extend_schema(
        parameters=[schema.UNREAD_LIMIT, *schema.SELECTION], responses=schema.UnreadCountEntity
    )
    def get(self, request: ApiRequest) -> HttpResponse:
        selection, limit = read_selection(request), read_unread_limit(request)
        count = count_unread_notifications(request.account_id, selection, limit, clock.now_ms())
        return json_response(b'{"count":%d}' % count)


class GroupsView(Endpoint):
    """My notifications in groups, the group with the newest notification first."""

    scopes = {"GET": READ}

    @extend_schema(
        operation_id="notifications_list_v2",
        parameters=[*paging(0), *schema.SELECTION, *schema.GROUPING],
        responses=schema.GroupedNotificationsResultsEntity,
    )
    def get(self, request: ApiRequest) -> HttpResponse:
        selection, window = read_selection(request), read_page_window(request)
        grouped, is_partial = read_grouped_types(request), read_is_partial(request)
        page = list_groups(request.account_id, selection, grouped, window, clock.now_ms())
        return object_page_response(request, page, present_groups(page.items, is_partial))


class GroupView(Endpoint):
    """One group of my notifications."""

    scopes = {"GET": READ}

    @extend_schema(
        parameters=[schema.SUPPORTED_TYPES], responses=schema.GroupedNotificationsResultsEntity
    )
    def get(self, request: ApiRequest, group_key: str) -> HttpResponse:
        group = _get_group(request.account_id, group_key)
        return json_response(present_groups([group], is_partial=False))


class GroupAccountsView(Endpoint):
    """The accounts of a group of my notifications, the latest first."""

    scopes = {"GET": READ}

    @extend_schema(responses=AccountEntity(many=True))
    def get(self, request: ApiRequest, group_key: str) -> HttpResponse:
        group = _get_group(request.account_id, group_key)
        accounts = {member.row.from_id: member.account for member in group.members}
        return json_response(join(accounts.values()))


class DismissGroupView(Endpoint):
    """Remove a group from my list."""

    scopes = {"POST": WRITE}

    @extend_schema(request=None, responses=schema.NothingEntity)
    def post(self, request: ApiRequest, group_key: str) -> HttpResponse:
        dismiss_group(request.account_id, _parse(group_key))
        return json_response(NOTHING)


class UnreadGroupsView(Endpoint):
    """How many groups have notifications after my marker of notifications, at most `limit`.

    With `conversations` also how many conversations are unread, which needs `read:statuses`.
    """

    scopes = {"GET": READ}

    @extend_schema(
        parameters=[
            schema.UNREAD_LIMIT,
            *schema.SELECTION,
            schema.GROUPED_TYPES,
            schema.WITH_CONVERSATIONS,
        ],
        responses=schema.UnreadGroupsEntity,
    )
    def get(self, request: ApiRequest) -> HttpResponse:
        """One round trip has both what is unread and where the marker is."""
        owner_id, now_ms, limit = request.account_id, clock.now_ms(), read_unread_limit(request)
        selection, grouped = read_selection(request), read_grouped_types(request)
        if not read_with_conversations(request):
            ids = answer(ask_unread_range(owner_id))
            count = count_groups(owner_id, selection, grouped, ids, limit, now_ms)
            return json_response(b'{"count":%d}' % count)
        ids, unread = answer(ask_both(ask_unread_range(owner_id), ask_unread(owner_id)))
        count = count_groups(owner_id, selection, grouped, ids, limit, now_ms)
        talks_count = count_visible(owner_id, unread, limit, now_ms)
        return json_response(b'{"count":%d,"conversations":%d}' % (count, talks_count))


def _get_group(owner_id: int, text: str) -> ViewedGroup:
    """Raises: NotificationNotFound."""
    group = find_group(owner_id, _parse(text), clock.now_ms())
    if group is None:
        raise NotificationNotFound
    return group


def _parse(text: str) -> GroupKey:
    """Raises: NotificationNotFound."""
    key = GroupKey.parse(text)
    if key is None:
        raise NotificationNotFound
    return key
