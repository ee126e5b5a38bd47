"""Which keywords are in a text, and what that costs when somebody chooses the worst of both.

The list of an author's newest posts in process memory, against a plain list of all posts.

The Status entity: what its fields say, and text that stays text.
"""

import time

import msgspec
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posts.cache import newest
from posts.cache.newest import NewestPosts
from posts.filters.account_filters import MOST_KEYWORD_CHARACTERS, MOST_RULES
from posts.filters.automaton import Automaton
from posts.filters.matching import FilterSet
from posts.filters.searching import MOST_BYTES, FilterSearch, decode_filters, search_of
from posts.filters.types import FilterKeyword, PostFilter
from posts.fragments.present import encode_post, present_status, with_source
from posts.fragments.read import status_id_of
from posts.ids import PostId, second_of
from posts.queries.rows import ALL_KINDS, ListedPost
from posts.types import Kind, PostRange, PostRow

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


def filtered_status(text: str) -> bytes:
    content = {"content": f"<p>{text}</p>", "spoiler_text": "", "poll": None}
    status = {"id": "1", "reblog": None, "media_attachments": [], "filtered": []}
    return msgspec.json.encode(status | content)


@pytest.mark.parametrize("whole_word", [False, True])
@pytest.mark.parametrize("post", POSTS)
@pytest.mark.parametrize("name", WORST)
def test_the_worst_filters_cost_little(name, post, whole_word):
    text, status = filters_of(WORST[name], whole_word), filtered_status(POSTS[post])
    filters = FilterSet.decode(text).at(0)
    assert least_s(lambda: FilterSearch.of(decode_filters(text))) < MOST_S
    assert least_s(lambda: search_of(text)) < MOST_S / 10  # it was built before
    assert least_s(lambda: [filters.apply(status) for _ in range(A_PAGE)]) < MOST_S


def test_a_text_of_any_length_costs_little():
    signs = "".join(map(chr, range(0x4E00, 0x4E00 + 16_000)))
    filters = FilterSet.decode(filters_of(WORST["nested"], whole_word=False)).at(0)
    for text in (signs, "https://a.b/" + "a" * 1_300_000, "a" * 1_300_000):
        assert least_s(lambda text=text: filters.apply(filtered_status(text))) < MOST_S


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


AUTHOR, OTHER = 7, 8
MOST = 4


@st.composite
def posts_of_author(draw: st.DrawFn) -> list[ListedPost]:
    """Newest first."""
    moments = draw(st.lists(st.integers(0, 30), unique=True, max_size=9))
    kinds = st.sampled_from(ALL_KINDS)
    return [_listed(moment, draw(kinds)) for moment in sorted(moments, reverse=True)]


def _listed(moment: int, kind: Kind) -> ListedPost:
    return ListedPost(moment, kind, *((None, None) if kind == Kind.POST else (OTHER, moment + 1)))


post_ranges = st.builds(
    PostRange, st.integers(0, 31), st.integers(0, 32), st.integers(1, 5), st.booleans()
)
some_kinds = st.sampled_from([ALL_KINDS, (Kind.POST,), (Kind.POST, Kind.REPLY), (Kind.REPOST,)])


def expected(
    posts: list[ListedPost], wanted: PostRange, kinds: tuple[Kind, ...]
) -> list[ListedPost]:
    inside = [p for p in posts if wanted.lower <= p.moment < wanted.upper and p.kind in kinds]
    return (inside if wanted.newest_first else inside[::-1])[: wanted.most]


def pair_of(post: ListedPost) -> tuple[PostId, PostId]:
    event = PostId.at(AUTHOR, post.moment)
    is_repost = post.kind == Kind.REPOST
    return event, PostId.at(OTHER, post.moment + 1) if is_repost else event


@given(posts=posts_of_author(), wanted=post_ranges, kinds=some_kinds)
def test_it_answers_as_the_whole_list_or_not_at_all(
    posts: list[ListedPost], wanted: PostRange, kinds: tuple[Kind, ...]
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(newest, "MOST_LISTED", MOST)
        listed = NewestPosts(AUTHOR, posts[: MOST + 1])
    found, right = listed.find(wanted, kinds), expected(posts, wanted, kinds)
    assert found in (None, [pair_of(post) for post in right])
    oldest_listed = posts[MOST - 1].moment if len(posts) > MOST else 0
    newest_ones = [post for post in right if post.moment >= oldest_listed]
    is_known = wanted.lower >= oldest_listed or (
        wanted.newest_first and len(newest_ones) == wanted.most
    )
    assert (found is not None) == is_known


POST_ID = PostId.at(7, second_of(1_780_000_000.9) * 1296 + 5)


def row(text: str, **more: object) -> PostRow:
    plain = PostRow(POST_ID.author_id, POST_ID.moment, text, False, "", None)
    return plain._replace(**more)


def status_of(post: PostRow) -> dict[str, object]:
    return orjson.loads(present_status(encode_post(post), b'{"id":"7"}'))


def test_status_says_who_when_and_where(settings):
    settings.PUBLIC_URL = "https://tide.example"
    status = status_of(row("hello", language="de", sensitive=True, spoiler_text="a < b"))
    assert status["id"] == POST_ID.public
    assert status["created_at"] == "2026-05-28T20:26:40.000Z"
    assert status["url"] == f"https://tide.example/statuses/{POST_ID.public}"
    assert status["account"] == {"id": "7"}
    assert (status["language"], status["sensitive"]) == ("de", True)
    assert status["spoiler_text"] == "a < b"  # plain text, unlike the content


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("hello", "<p>hello</p>"),
        ("<script>alert(1)</script>", "<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>"),
        ("a & b \"c\" 'd'", "<p>a &amp; b &quot;c&quot; &#x27;d&#x27;</p>"),
        ("&lt;b&gt;", "<p>&amp;lt;b&amp;gt;</p>"),
        ("one\ntwo\r\nthree", "<p>one<br />two<br />three</p>"),
        ("one\n\n\ntwo", "<p>one</p><p>two</p>"),
        ("👩\u200d🚀 字 é", "<p>👩\u200d🚀 字 é</p>"),
        ('"},{"id":"1', "<p>&quot;},{&quot;id&quot;:&quot;1</p>"),
    ],
)
def test_text_stays_text(text, html):
    assert status_of(row(text))["content"] == html


def test_id_is_what_the_entity_begins_with():
    assert status_id_of(present_status(encode_post(row("hello")), b'{"id":"7"}')) == POST_ID.public


def test_deleted_status_carries_the_text_as_typed():
    text = 'quotes " and \\ and 🌊\n'
    status = present_status(encode_post(row(text)), b'{"id":"7"}')
    assert orjson.loads(with_source(status, text)) == orjson.loads(status) | {"text": text}
