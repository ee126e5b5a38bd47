"""What runs around every request beside the view: each look at all databases or caches costs."""

from django.core.signals import request_finished, request_started
from django.dispatch import Signal


def receivers(signal: Signal) -> set[str]:
    found, _ = signal._live_receivers(None)
    return {receiver.__name__ for receiver in found}


def test_each_request_starts_with_a_look_at_its_own_threads_connections():
    assert receivers(request_started) == {"drop_broken_connections"}


def test_nothing_is_closed_after_a_request():
    assert receivers(request_finished) == {"reset_urlconf"}
