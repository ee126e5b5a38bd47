"""Notifications over HTTP, one by one (v1). Callers see and change only their own."""

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema

from infra import clock
from infra.api.endpoint import Endpoint
from infra.api.pages import Page, page_response, paging
from infra.api.rendering import json_response
from infra.api.request import ApiRequest
from notifications.actions.dismiss import clear, dismiss_notification
from notifications.api import schema
from notifications.api.parse import read_page_window, read_selection, read_unread_limit
from notifications.api.present import present_notification
from notifications.errors import NotificationNotFound
from notifications.queries.pages import (
    count_unread_notifications,
    find_notification,
    list_notifications,
)

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
