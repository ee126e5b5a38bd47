"""After an entry was lost, its readers of all processes read the source once."""

import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import orjson
import pytest
from django.conf import settings

from tests.herd import READS, Herd, Subject, lose, make_subject, read_together
from tests.other_process import environment_of_this_test

READERS = 32


@pytest.fixture
def subject(world: None) -> Subject:
    return make_subject()


@pytest.fixture
def other(world: None) -> Iterator[subprocess.Popen[str]]:
    """Another process, for herds."""
    pipe = subprocess.PIPE
    with subprocess.Popen(
        [sys.executable, "-m", "tests.herd"],
        env=environment_of_this_test(),
        cwd=settings.BASE_DIR,
        stdin=pipe,
        stdout=pipe,
        text=True,
    ) as process:
        yield process
        assert process.stdin is not None
        process.stdin.close()


@pytest.mark.parametrize("family", READS)
def test_threads_that_miss_an_entry_together_read_its_source_once(
    family: str, subject: Subject
) -> None:
    lose(family, subject)
    found = read_together(Herd(family, subject, READERS, READERS))
    assert_each_ran_once(family, found)


def test_processes_that_miss_an_entry_together_read_its_source_once(
    subject: Subject, other: subprocess.Popen[str]
) -> None:
    for family in READS:
        lose(family, subject)
        herd = Herd(family, subject, READERS // 2, READERS)
        with ThreadPoolExecutor(1) as pool:
            theirs = pool.submit(_ask, other, herd)
            assert_each_ran_once(family, read_together(herd) + theirs.result())


def _ask(other: subprocess.Popen[str], herd: Herd) -> Counter[str]:
    assert other.stdin is not None and other.stdout is not None
    request = [herd.family, list(herd.subject), herd.readers, herd.everyone]
    print(orjson.dumps(request).decode(), file=other.stdin, flush=True)
    return Counter(orjson.loads(other.stdout.readline()))


def assert_each_ran_once(family: str, found: Counter[str]) -> None:
    assert found, f"{family}: no statement ran"
    assert set(found.values()) == {1}, (family, found)
