"""Copies of hot authors' entries: several requests of a process read and store them."""

import pytest

from infra.caching.questions import answer
from tests.integration.timelines.stars import Fans
from tests.world import drain_all
from timelines.hot import entries
from timelines.hot.entries import HotEntriesCache


def test_a_slow_page_does_not_take_entries_back(
    fans: Fans, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A poll gets none from before it began. Another request stores older ones."""
    monkeypatch.setattr(entries, "COPY_S", 1.0)
    fans.heat()
    clock = [10.0]
    cache = HotEntriesCache(lambda: clock[0])
    cache.load([fans.star])
    clock[0] = 12.0
    slow = answer(cache.ask([fans.star]))
    post = fans.post()
    drain_all()
    clock[0] = 12.2
    fast = answer(cache.ask([fans.star], since_s=12.2))
    (found,) = cache.load([fans.star], 12.2, fast)
    cache.load([fans.star], just_read=slow)
    assert found.read_at == 12.2
    assert found.entries[-1][-10:] == post.packed
    assert cache.find_fresh([fans.star]) == [found], "the copy is the newer one too"
