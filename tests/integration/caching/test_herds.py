"""After an entry was lost, its readers of all processes read the source once."""

from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import orjson
import pytest
from django.conf import settings

from accounts.models import AccessToken
from accounts.queries import site_counts, tokens
from accounts.queries.site_counts import SiteCounts, get_site_counts
from infra.sharding.buckets import shard_of
from infra.sharding.placement import GLOBAL_ALIAS
from infra.sharding.sql import execute
from tests.herd import READS, Herd, Subject, lose, make_subject, read_together
from tests.loaded_process import LoadedProcess
from tests.races import run_together
from tests.waiting import until
from timelines.stores import postgres, rows
from timelines.stores.factory import timeline_store

READERS = 32


@pytest.fixture
def subject(world: None) -> Subject:
    return make_subject()


@pytest.fixture
def other(world: None) -> Iterator[LoadedProcess]:
    """Another process, for herds."""
    with LoadedProcess("-m", "tests.herd") as process:
        yield process


@pytest.mark.parametrize("family", READS)
def test_threads_that_miss_an_entry_together_read_its_source_once(
    family: str, subject: Subject
) -> None:
    lose(family, subject)
    found = read_together(Herd(family, subject, READERS, READERS))
    assert_each_ran_once(family, found)


def test_processes_that_miss_an_entry_together_read_its_source_once(
    subject: Subject, other: LoadedProcess
) -> None:
    for family in READS:
        lose(family, subject)
        herd = Herd(family, subject, READERS // 2, READERS)
        with ThreadPoolExecutor(1) as pool:
            theirs = pool.submit(_ask, other, herd)
            assert_each_ran_once(family, read_together(herd) + theirs.result())


@pytest.mark.parametrize("has_rows", [True, False])
def test_threads_that_miss_a_tiered_timeline_read_its_rows_or_pull_once(
    subject: Subject, monkeypatch: pytest.MonkeyPatch, has_rows: bool
) -> None:
    monkeypatch.setattr(settings, "TIMELINE_STORE", "tiered")
    timeline_store.cache_clear()
    try:
        lose("timelines.home", subject)
        if has_rows:
            monkeypatch.setattr(postgres, "ENOUGH", 1)
        else:
            execute(shard_of(subject.viewer), "DELETE FROM timelines_head")
        found = read_together(Herd("timelines.home", subject, READERS, READERS))
    finally:
        timeline_store.cache_clear()
    source = rows.READ if has_rows else "timelines_recentpost"
    read = {sql: times for sql, times in found.items() if source in sql}
    assert [*read.values()] == [1], found


def _ask(other: LoadedProcess, herd: Herd) -> Counter[str]:
    request = [herd.family, list(herd.subject), herd.readers, herd.everyone]
    print(orjson.dumps(request).decode(), file=other.stdin, flush=True)
    return Counter(orjson.loads(other.stdout.readline()))


def assert_each_ran_once(family: str, found: Counter[str]) -> None:
    assert found, f"{family}: no statement ran"
    assert set(found.values()) == {1}, (family, found)


def test_threads_that_need_the_name_of_a_client_read_it_once(
    subject: Subject, monkeypatch: pytest.MonkeyPatch
) -> None:
    application = AccessToken.objects.using(GLOBAL_ALIAS).first().application_id
    tokens._names.clear()
    asked, read = list[int](), list[int]()

    def read_when_all_have_asked(alias: str, sql: str, params: tuple[int]) -> tuple[str, str]:
        read.append(params[0])
        until(lambda: len(asked) == READERS)
        return "client", ""

    def ask() -> tokens.ClientName | None:
        asked.append(1)
        return tokens.find_client_name(application)

    monkeypatch.setattr(tokens, "fetch_one", read_when_all_have_asked)
    names = run_together([ask] * READERS)
    assert names == [{"name": "client", "website": None}] * READERS
    assert read == [application]


def test_the_first_readers_of_the_site_counts_wait_for_them(
    subject: Subject, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else the site has no users and no posts for all but one of them."""
    asked, counted = list[int](), list[SiteCounts]()

    def count_when_all_have_asked() -> SiteCounts:
        until(lambda: len(asked) % READERS == 0)
        counted.append(SiteCounts(2, 1))
        return counted[-1]

    def ask() -> SiteCounts:
        asked.append(1)
        return get_site_counts()

    monkeypatch.setattr(site_counts, "_load_counts", count_when_all_have_asked)
    monkeypatch.setattr(site_counts._Memory, "counts", None)
    monkeypatch.setattr(site_counts._Memory, "fresh_until", 0.0)
    assert run_together([ask] * READERS) == [SiteCounts(2, 1)] * READERS
    assert len(counted) == 1
    monkeypatch.setattr(site_counts._Memory, "fresh_until", 0.0)
    run_together([ask] * READERS)
    assert len(counted) == 2, "and later they use the last ones"
