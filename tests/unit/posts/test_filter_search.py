"""Which keywords are in a text, and what that costs when somebody chooses the worst of both."""

import time

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posts.filters.account_filters import MOST_KEYWORD_CHARACTERS, MOST_RULES
from posts.filters.automaton import Automaton
from posts.filters.matching import FilterSet
from posts.filters.searching import MOST_BYTES, FilterSearch, decode_filters, search_of
from posts.filters.types import FilterKeyword, PostFilter

FEW_SIGNS = st.text(st.sampled_from("abc\0"), max_size=30)
A_PAGE = 40
# What filters may add to a page of ordinary posts is 5 ms; a crowded machine needs more for it.
MOST_S = 0.05


@given(st.lists(st.text(st.sampled_from("ab\0"), min_size=1, max_size=6), max_size=8), FEW_SIGNS)
def test_all_keywords_of_a_text_are_found(keywords, text):
    expected = {number for number, one in enumerate(keywords) if one in text}
    assert Automaton.of(enumerate(keywords)).find(text) == expected


def keywords_of(length: int) -> list[str]:
    """`a…b`, `b…a` and so on, as many as an account may have."""
    count = min(MOST_RULES, MOST_KEYWORD_CHARACTERS // length)
    return ["a" * (length - 1) + chr(ord("b") + n % 20) for n in range(count)]


WORST = {
    "short": keywords_of(15),
    "long": keywords_of(500),
    "nested": ["a" * length for length in range(1, 76)],
    "words": [f"word{number:03d}" for number in range(MOST_RULES)],
}
POSTS = {
    "ordinary": "Some words of an ordinary post, about word017 and tea. " * 9,
    "repeated": "a" * 500,
}


def filters_of(words: list[str], whole_word: bool) -> bytes:
    """A filter for each four keywords."""
    keywords = [FilterKeyword(n, word, whole_word) for n, word in enumerate(words)]
    parts = [keywords[n : n + 4] for n in range(0, len(keywords), 4)]
    filters = [PostFilter(n, "t", ["home"], "hide", None, part) for n, part in enumerate(parts)]
    return msgspec.json.encode(filters)


def status_of(text: str) -> bytes:
    content = {"content": f"<p>{text}</p>", "spoiler_text": "", "poll": None}
    status = {"id": "1", "reblog": None, "media_attachments": [], "filtered": []}
    return msgspec.json.encode(status | content)


@pytest.mark.parametrize("whole_word", [False, True])
@pytest.mark.parametrize("post", POSTS)
@pytest.mark.parametrize("name", WORST)
def test_the_worst_filters_cost_little(name, post, whole_word):
    text, status = filters_of(WORST[name], whole_word), status_of(POSTS[post])
    filters = FilterSet.decode(text).at(0)
    assert least_s(lambda: FilterSearch.of(decode_filters(text))) < MOST_S
    assert least_s(lambda: search_of(text)) < MOST_S / 10  # it was built before
    assert least_s(lambda: [filters.apply(status) for _ in range(A_PAGE)]) < MOST_S


def test_a_text_of_any_length_costs_little():
    signs = "".join(map(chr, range(0x4E00, 0x4E00 + 16_000)))
    filters = FilterSet.decode(filters_of(WORST["nested"], whole_word=False)).at(0)
    for text in (signs, "https://a.b/" + "a" * 1_300_000, "a" * 1_300_000):
        assert least_s(lambda text=text: filters.apply(status_of(text))) < MOST_S


def test_what_is_kept_of_filters_has_a_bound():
    for number in range(40):
        search = search_of(filters_of([f"{number}{word}" for word in WORST["short"]], False))
        assert search.bytes < MOST_BYTES


def least_s(act) -> float:
    return min(cost_s(act) for _ in range(3))


def cost_s(act) -> float:
    """CPU time, so that other processes do not count."""
    start = time.thread_time()
    act()
    return time.thread_time() - start
