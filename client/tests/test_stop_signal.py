"""A signal ends the follower wherever it comes: also while its own thread waits."""

import os
import signal
import threading

import pytest

pytest.importorskip("django")

from tideline_client.contrib.django.management.commands import sync_tideline


def test_a_signal_within_the_pause_ends_it(monkeypatch):
    """The handler may take no lock: its own thread could have it."""
    batches = iter([None])  # a second one would raise: the first pause has the signal
    monkeypatch.setattr(sync_tideline, "drain_batch", lambda *_: next(batches))
    monkeypatch.setattr(sync_tideline, "tideline", lambda: None)
    monkeypatch.setattr(sync_tideline, "STEP_S", 0.001)
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    locks_taken = []
    monkeypatch.setattr(threading, "Lock", lambda: locks_taken.append(1))
    monkeypatch.setattr(sync_tideline.time, "sleep", lambda _: os.kill(os.getpid(), signal.SIGTERM))
    try:
        sync_tideline.Command()._follow("default")
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    assert locks_taken == []
