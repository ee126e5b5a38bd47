"""Notifications over HTTP in groups (v2). Callers see and change only their own."""

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema

from accounts.api.schema import AccountEntity
from infra import clock
from infra.api.endpoint import Endpoint
from infra.api.pages import object_page_response, paging
from infra.api.rendering import json_response
from infra.api.request import ApiRequest
from infra.caching.questions import answer, ask_both
from notifications.actions.dismiss import dismiss_group
from notifications.api import schema
from notifications.api.parse import (
    read_grouped_types,
    read_is_partial,
    read_page_window,
    read_selection,
    read_unread_limit,
    read_with_conversations,
)
from notifications.api.present import join, present_groups
from notifications.api.views import NOTHING, READ, WRITE
from notifications.errors import NotificationNotFound
from notifications.groups import GroupKey
from notifications.queries.groups import ViewedGroup, count_groups, find_group, list_groups
from notifications.queries.pages import ask_unread_range
from posts.conversations.cache import ask_unread
from posts.conversations.queries.conversations import count_visible


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
