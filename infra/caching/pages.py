"""The admin's page of hot keys, to read only. For staff: routed through the admin site."""

import time

from django.conf import settings
from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe
from redis.exceptions import RedisError

from infra.caching.hot_fleet import WINDOW_S, list_warm


@require_safe
def show_hot_keys(request: HttpRequest) -> HttpResponse:
    """What all processes together read most. Cost: one round trip."""
    try:
        warm, is_away = list_warm(time.time()), False
    except RedisError:
        warm, is_away = [], True
    context = admin.site.each_context(request) | {
        "title": "Hot keys",
        "warm": warm,
        "is_away": is_away,
        "hot_from": settings.HOT_KEY_READS,
        "copy_ms": settings.HOT_COPY_MS,
        "window_s": WINDOW_S,
    }
    return render(request, "caching/hot_keys.html", context)
