"""Author timelines: one account's posts by cursor."""

from infra.api.pages import Window
from posts.actions.delete_post import delete_post
from posts.ids import EPOCH, PostId
from tests.budgets import count_calls
from tests.integration.timelines.homes import ids_of
from tests.world import make_accounts, publish
from timelines.queries.author import AuthorTimelineQuery, author_page


def posts_of(author_id: int, count: int) -> list[PostId]:
    """Three a second, so that pages end inside seconds."""
    return [publish(author_id, clock_s=lambda n=n: EPOCH + 100 + n // 3) for n in range(count)]


def test_pages_down_and_up(world: None) -> None:
    author, other = make_accounts(2)
    posts = posts_of(author, 20)
    publish(other, clock_s=lambda: EPOCH + 101)
    expected = [post.public for post in reversed(posts)]
    found, cursor = [], None
    while True:
        page = author_page(AuthorTimelineQuery(author), Window(4, max_id=cursor))
        found += ids_of(page.items)
        cursor = page.older
        if cursor is None:
            break
    assert found == expected
    up, cursor = [], PostId(0, 0, 0).public
    while items := ids_of(author_page(AuthorTimelineQuery(author), Window(4, min_id=cursor)).items):
        up, cursor = items + up, items[0]
    assert up == expected


def test_a_cursor_of_somebody_elses_post_is_a_place_in_time(world: None) -> None:
    author, other = make_accounts(2)
    early, late = (publish(author, clock_s=lambda s=s: EPOCH + s) for s in (100, 102))
    mark = publish(other, clock_s=lambda: EPOCH + 101)
    assert ids_of(
        author_page(AuthorTimelineQuery(author), Window(9, max_id=mark.public)).items
    ) == [early.public]
    assert ids_of(
        author_page(AuthorTimelineQuery(author), Window(9, since_id=mark.public)).items
    ) == [late.public]
    assert ids_of(
        author_page(AuthorTimelineQuery(author), Window(9, min_id=mark.public)).items
    ) == [late.public]


def test_deleted_posts_are_not_listed(world: None) -> None:
    (author,) = make_accounts(1)
    posts = posts_of(author, 3)
    delete_post(posts[1])
    assert ids_of(author_page(AuthorTimelineQuery(author), Window(9)).items) == [
        posts[2].public,
        posts[0].public,
    ]


def test_a_warm_page_costs_one_query_and_one_round_trip(world: None) -> None:
    (author,) = make_accounts(1)
    for _ in range(10):
        publish(author)
    author_page(AuthorTimelineQuery(author), Window(20))
    with count_calls() as calls:
        author_page(AuthorTimelineQuery(author), Window(20))
    assert sum(calls.sql.values()) == 1
    assert calls.round_trips == 1
