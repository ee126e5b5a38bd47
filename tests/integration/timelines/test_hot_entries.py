"""The set of hot authors and their entries: content and cost."""

import threading
from collections.abc import Callable

from infra.caching.client import redis
from tests.budgets import count_calls
from tests.integration.timelines.homes import first_page, read_from_bottom, read_to_end
from tests.integration.timelines.stars import Fans
from tests.world import drain_all, make_accounts
from timelines.hot import entries as entries_module
from timelines.hot.directory import SET, add_hot_authors, load_hot_authors, make_validator
from timelines.hot.entries import hot_entries_store, load_hot_entries

Drain = Callable[[], int]


def test_many_posts_of_theirs_are_read_to_the_first(fans, drain: Drain, monkeypatch) -> None:
    monkeypatch.setattr(entries_module, "ENTRIES_PER_AUTHOR", 4)
    hot_entries_store.cache_clear()
    fans.heat()
    for _ in range(12):
        fans.post()
        fans.post(fans.friend)
    drain()
    for limit in (1, 5):
        assert read_to_end(fans.me, limit) == fans.expected()
        assert read_from_bottom(fans.me, limit) == fans.expected()
    hot_entries_store.cache_clear()


def test_an_author_added_while_the_set_is_read_is_in_it(fans: Fans, drain: Drain) -> None:
    """Between reading the shards and writing the set."""
    claim = b"\0" + b"7" * 7
    redis().call("SET", SET, claim)
    fans.heat()
    fans.post()
    drain()
    assert redis().call("GET", SET) != claim, "a write with this claim is refused"
    assert load_hot_authors().ids == (fans.star,)
    assert read_to_end(fans.me) == fans.expected()


def test_the_set_changes_its_validator_only_when_it_changes(world: None) -> None:
    redis().call("SET", SET, make_validator())
    (author,) = make_accounts(1)
    validators = []
    for authors in (set(), {author}, {author}, {author + 1}):
        add_hot_authors(authors)
        validators.append(redis().call("GETRANGE", SET, 0, 7))
    assert [
        validators[0] != validators[1],
        validators[1] == validators[2],
        validators[2] != validators[3],
    ] == [True] * 3
    assert load_hot_authors().ids == (author, author + 1)


def test_a_warm_page_costs_one_round_trip(fans: Fans, drain: Drain) -> None:
    fans.heat()
    fans.post()
    drain()
    first_page(fans.me)
    with count_calls() as calls:
        assert len(load_hot_entries([fans.star])) == 1
    assert (calls.statements, calls.round_trips) == ([], 1)
    first_page(fans.me)
    with count_calls() as calls:
        assert first_page(fans.me) == fans.expected()
    assert (calls.statements, calls.round_trips) == ([], 1)


def test_entries_built_while_they_are_pushed_to_lack_nothing(fans: Fans, monkeypatch) -> None:
    fans.heat()
    redis().call("DEL", b"timelines.hot_entries:v1:{%d}" % fans.star)
    read, going = entries_module.list_newest_entries, threading.Event()

    def slow(*args: int) -> object:
        found = read(*args)
        if not going.is_set():
            going.set()
            fans.post()
            drain_all()
        return found

    monkeypatch.setattr(entries_module, "list_newest_entries", slow)
    load_hot_entries([fans.star])
    assert going.is_set()
    assert read_to_end(fans.me) == fans.expected()
