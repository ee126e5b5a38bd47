"""The page of hot keys: the Redis keys that all processes together read most."""

import time

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe
from redis.exceptions import RedisError

from infra.caching.fleet_reads import WINDOW_S, list_read_rates
from operations.site import page_context


@require_safe
def show_hot_keys(request: HttpRequest) -> HttpResponse:
    """Cost: one round trip."""
    try:
        warm, is_away = list_read_rates(time.time()), False
    except RedisError:
        warm, is_away = [], True
    context = page_context(request, "Hot keys") | {
        "warm": warm,
        "is_away": is_away,
        "hot_from": settings.HOT_KEY_READS,
        "copy_ms": settings.HOT_COPY_MS,
        "window_s": WINDOW_S,
    }
    return render(request, "operations/hot_keys.html", context)
