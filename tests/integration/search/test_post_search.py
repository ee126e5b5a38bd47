"""Posts by words, and searches for everything, over HTTP."""

import time
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connections
from django.test import Client

from accounts.actions.update_profile import update_profile
from accounts.types import ProfileEdit
from infra.caching.client import redis
from infra.sharding.buckets import shard_of
from infra.sharding.sql import execute, fetch_one
from posts.actions.delete_post import delete_post
from posts.actions.hide_post import hide_post
from posts.actions.repost import repost
from posts.ids import EPOCH, LAST, PostId
from posts.queries.search import DAY, NEWEST, PostWords, WordSearch, search_words
from relations.actions.block import block
from relations.actions.mute import mute
from tests.budgets import count_calls
from tests.callers import Caller
from tests.people import cast
from tests.pictures import picture, upload
from tests.plans import nodes_of, rows_handled, settle
from tests.world import NOW, drain_all, make_account, publish
from timelines.search.cache import FAMILY, TTL_S

PATH = "/api/v2/search"


def search(client: Any, text: str, **query: Any) -> dict[str, Any]:
    answer = client.get(PATH, {"q": text, **query})
    assert answer.status_code == 200, answer.content
    return dict(answer.json())


def texts(client: Any, text: str, **query: Any) -> list[str]:
    found = search(client, text, type="statuses", **query)
    assert found["accounts"] == found["hashtags"] == []
    return [
        status["content"].removeprefix("<p>").removesuffix("</p>") for status in found["statuses"]
    ]


people = cast(5)


def test_posts_with_all_words_of_all_shards_newest_first(people: list[int], me: Caller) -> None:
    for day, (author, text) in enumerate(
        zip(people, ("one Tea", "two TÉA", "coffee", "tea, three", "x"), strict=True)
    ):
        publish(author, text, clock_s=lambda day=day: EPOCH + day * 86_400.0)
    publish(people[0], "fresh tea")
    assert texts(me, "tea") == ["fresh tea", "tea, three", "two TÉA", "one Tea"]
    assert texts(me, "tea after:2006-01-01 before:2006-01-04") == ["two TÉA"]
    assert texts(me, "during:2006-01-04 tea") == ["tea, three"]
    assert texts(me, "from:me before:2006-01-02") == ["one Tea"]
    assert (
        texts(me, "tea before:2006-01-02 after:2006-01-04") == texts(me, "during:2006-01-04") == []
    )
    assert texts(me, "TEA one") == ["one Tea"]
    assert texts(me, "te") == texts(me, "tea coffee") == texts(me, "!!") == []
    assert texts(me, "tea", limit=2, offset=1) == ["tea, three", "two TÉA"]


def test_words_of_other_scripts(people: list[int], me: Caller) -> None:
    for post, finds, misses in [
        ("私は東京に住んでいます。", "東京 東京に 私は東京に住んで 京 す", "京東 住京 东京 北"),
        ("我喜欢喝绿茶。水也好", "绿茶 喜欢喝 茶 喝", "茶水 红茶 欢绿"),
        ("서울에서 만나요", "서울 에서 서울에서 만나", "서에 울만"),
        ("ฉันชอบดื่มชาเขียว", "ชอบ ดื่ม ชาเขียว", "เขียวชา"),
        ("iPhone15を買った", "iphone15 買った iPhone15を", "iphone を買い"),
        ("人々のﾗｰﾒﾝ・ガイド", "人々 ラーメン ｶﾞｲﾄﾞ", "メンガ カイド"),
        ("الشاي، والقهوة؟", "الشاي والقهوة", "الشا"),
        ("चाय।पानी ማለት፡ነው", "चाय पानी ነው", "चा"),
    ]:
        publish(people[1], post)
        found = {text: len(texts(me, text)) for text in (*finds.split(), *misses.split())}
        assert found == dict.fromkeys(finds.split(), 1) | dict.fromkeys(misses.split(), 0), (
            post,
            finds,
            misses,
        )


def test_phrases_and_unwanted_words(people: list[int], me: Caller) -> None:
    posted = ("green tea", "tea, green!", "green, TEA cup", "green cup of tea", "東京の green #tea")
    for author, text in zip(people, posted, strict=True):
        publish(author, text)

    def found(text: str) -> set[int]:
        statuses = search(me, text, type="statuses")["statuses"]
        return {people.index(int(status["account"]["id"])) for status in statuses}

    assert found("green tea") == found("tea +green") == {0, 1, 2, 3, 4}
    assert found('"green tea"') == found("\u201cGreen TEA\u201d") == {0, 2, 4}
    assert found('"green tea" cup') == found('cup +"green tea"') == {2}
    assert found('"tea green"') == {1}
    assert found("green -cup") == found("green -cup -nothing") == {0, 1, 4}
    assert found('green -"green tea"') == found("green -green-tea") == {1, 3}
    assert found("green -#tea") == {0, 1, 2, 3}
    assert found("green -京") == found("green -東京 -!!") == {0, 1, 2, 3}
    assert found('green "東京の green"') == {4}
    # A quote without a partner is no phrase, and a hyphen within a word excludes nothing.
    assert found('"tea green') == found('tea" green') == found('tea "" green') == {0, 1, 2, 3, 4}
    assert found("green-tea") == found("green - tea") == {0, 1, 2, 3, 4}
    assert found("-cup") == found('""') == found("-!!") == set()
    # More words than the index compares: the ninth counts, too.
    assert found("green tea " * 4 + "cup") == {2, 3}


HIDE_IMAGES = """
UPDATE posts_post SET media = jsonb_set(media, '{0,is_hidden}', 'true')
WHERE author_id = %s AND media IS NOT NULL
"""


def test_every_text_of_a_post_is_found(people: list[int], me: Caller) -> None:
    image = me.client.post("/api/v2/media", {"file": upload(picture()), "description": "drawn tea"})
    image_id = image.json()["id"]
    poll = {"options": ["chosen tea", "b"], "expires_in": 300}
    sent: dict[str, dict[str, Any]] = {
        "warned": {"status": "1", "spoiler_text": "warned tea"},
        "chosen": {"status": "2", "poll": poll},
        "drawn": {"status": "3", "media_ids": [image_id]},
    }
    posts = {word: me.post("/api/v1/statuses", body).json()["id"] for word, body in sent.items()}
    for word, post in posts.items():
        assert [one["id"] for one in search(me, f'"{word} tea"')["statuses"]] == [post]
    execute(shard_of(people[0]), HIDE_IMAGES, (people[0],))
    assert search(me, "drawn")["statuses"] == []


def test_traits_of_posts_are_searched_and_never_ignored(people: list[int], me: Caller) -> None:
    author = make_account("ann")
    ann = Caller(author)
    image = ann.client.post("/api/v2/media", {"file": upload(picture())}).json()["id"]
    poll = {"options": ["a", "b"], "expires_in": 300}
    first = ann.post("/api/v1/statuses", {"status": "tea 0", "language": "en-GB"}).json()["id"]
    for number, more in enumerate(
        (
            {"media_ids": [image]},
            {"poll": poll, "language": "de"},
            {"in_reply_to_id": first},
            {"sensitive": True},
        ),
        1,
    ):
        ann.post("/api/v1/statuses", {"status": f"tea {number}", **more})

    def found(text: str) -> set[int]:
        return {int(one.removeprefix("tea ")) for one in texts(me, text)}

    for asked in ("tea", "from:ann", "tea from:@ann"):
        assert found(f"{asked} has:media") == found(f"{asked} has:image") == {1}
        assert found(f"{asked} has:poll") == found(f"{asked} language:de") == {2}
        assert found(f"{asked} is:reply in:public") == {3}
        assert found(f"{asked} IS:sensitive in:all") == {4}
        assert found(f"{asked} language:en") == found(f"{asked} language:en-gb") == {0}
        assert found(f"{asked} -has:media -has:poll -is:reply -is:sensitive") == {0}
        assert found(f"{asked} -language:en") == {1, 2, 3, 4}
        for unknown in ("-in:library", "has:video", "is:bot"):
            assert me.get(PATH, {"q": f"{asked} {unknown}"}).status_code == 422
    assert me.get(PATH, {"q": "has:poll"}).status_code == 422
    assert found('tea "has:poll"') == set()


@pytest.mark.usefixtures("delivered_at_once")
def test_tags_of_all_scripts_are_found_by_their_beginnings(people: list[int], me: Caller) -> None:
    publish(people[0], "#हिन्दी #Cafe\u0301s #กรุงเทพ #col·legi")
    for text, name in (
        ("#हि", "हिन्दी"),
        ("cafe\u0301", "cafés"),
        ("กรุ", "กรุงเทพ"),
        ("col·", "col·legi"),
    ):
        assert [one["name"] for one in search(me, text, type="hashtags")["hashtags"]] == [name]


def test_a_tag_finds_the_posts_with_exactly_this_tag(people: list[int], me: Caller) -> None:
    for author, text in zip(people, ("#tea", "tea", "#tea_x", "#Tea #milk", "milk"), strict=True):
        publish(author, text)
    found = search(me, "#TEA", type="statuses")["statuses"]
    assert {status["account"]["id"] for status in found} == {str(people[0]), str(people[3])}
    assert len(search(me, "#tea #milk", type="statuses")["statuses"]) == 1
    assert len(search(me, "tea #milk", type="statuses")["statuses"]) == 1
    assert search(me, "#te", type="statuses")["statuses"] == []


def test_pages_by_ids_meet(people: list[int], me: Caller) -> None:
    posts = [publish(people[n % 5], f"tea {n}") for n in range(12)]
    newest_first = [post.public for post in sorted(posts, reverse=True)]
    found: list[str] = []
    while page := search(me, "tea", limit=5, **({"max_id": found[-1]} if found else {}))[
        "statuses"
    ]:
        found += [status["id"] for status in page]
    assert found == newest_first
    above = search(me, "tea", min_id=newest_first[3])["statuses"]
    assert [status["id"] for status in above] == newest_first[:3]


def test_who_may_find_a_post(people: list[int], me: Caller, drain: Callable[[], int]) -> None:
    """Besides what test_who_sees_what.py has."""
    mine, deleted, hidden, other, _ = people
    posts = {author: publish(author, f"tea of {author}") for author in people[:4]}
    repost(mine, posts[other])
    drain()
    assert len(texts(me, "tea")) == 4
    delete_post(posts[deleted])
    hide_post(posts[hidden], NOW, 1)
    drain()
    assert texts(me, "tea") == [f"tea of {other}", f"tea of {mine}"]


def test_only_public_posts_are_found(people: list[int], me: Caller) -> None:
    post = publish(people[1], "secret tea")
    assert texts(me, "secret") == ["secret tea"]
    for visibility in (1, 2, 3):
        execute(
            shard_of(people[1]),
            "UPDATE posts_post SET visibility = %s WHERE moment = %s",
            (visibility, post.moment),
        )
        assert (
            search_words(shard_of(people[1]), WordSearch(PostWords("secret"), 5), post.second) == []
        )


def test_posts_of_one_author(people: list[int], me: Caller) -> None:
    ann = make_account("ann")
    for author in (ann, people[0], people[1]):
        publish(author, f"tea {author}")
    for text in ("tea from:ann", "from:@ANN tea", "tea FROM:ann@localhost:8000"):
        assert texts(me, text) == [f"tea {ann}"], text
    assert texts(me, "tea from:me") == [f"tea {people[0]}"]
    assert texts(me, "tea", account_id=ann) == [f"tea {ann}"]
    publish(ann, "coffee")
    assert texts(me, "from:ann") == texts(me, "from:ann -milk") == ["coffee", f"tea {ann}"]
    assert texts(me, "from:ann -tea") == texts(me, "-tea", account_id=ann) == ["coffee"]
    assert texts(me, "tea -from:ann -from:me -from:nothing") == [f"tea {people[1]}"]
    assert texts(me, "tea from:nothing") == texts(me, "tea from:me", account_id=ann) == []


def test_hidden_results_are_replaced_by_older_ones(people: list[int], me: Caller) -> None:
    for _ in range(30):
        publish(people[1], "tea hidden", clock_s=lambda: EPOCH + 100.0)
    publish(people[2], "tea shown", clock_s=lambda: EPOCH + 50.0)
    mute(people[0], people[1])
    assert texts(me, "tea", limit=1) == ["tea shown"]


def test_all_types_at_once_and_addresses(people: list[int], me: Caller) -> None:
    ann = make_account("ann")
    post = publish(ann, "ann drinks tea")
    found = search(me, "ann")
    assert [account["id"] for account in found["accounts"]] == [str(ann)]
    assert [status["id"] for status in found["statuses"]] == [post.public]
    assert found["hashtags"] == []
    by_url = search(me, f"http://localhost:8000/statuses/{post.public}", resolve="true")
    assert ([s["id"] for s in by_url["statuses"]], by_url["accounts"]) == ([post.public], [])
    by_address = search(me, "@ann@localhost:8000")
    assert ([a["id"] for a in by_address["accounts"]], by_address["statuses"]) == ([str(ann)], [])


def test_posts_of_authors_who_do_not_want_it_are_not_found(people: list[int], me: Caller) -> None:
    for author in people[:2]:
        publish(author, f"tea {author}")
        update_profile(author, ProfileEdit(is_indexable=False))
    assert texts(me, "tea") == [f"tea {people[0]}"]


@pytest.mark.usefixtures("delivered_at_once")
def test_tags_by_their_beginnings(people: list[int], me: Caller) -> None:
    def names(client: Any, text: str, **query: Any) -> list[str]:
        found = search(client, text, type="hashtags", **query)
        assert found["accounts"] == found["statuses"] == []
        return [tag["name"] for tag in found["hashtags"]]

    for second, text in enumerate(("#teapot", "#Tea #coffee", "#teas", "#TEAM")):
        publish(people[second], text, clock_s=lambda second=second: EPOCH + second)
    gone = publish(people[4], "#teatime")
    assert names(me, "tea") == ["tea", "teatime", "team", "teas", "teapot"]
    delete_post(gone)
    drain_all()
    assert names(me, "#TEA") == names(Client(), "tea") == ["tea", "team", "teas", "teapot"]
    assert names(me, "tea", limit=1, offset=1) == ["team"]
    assert names(me, "cof%") == names(me, "nothing") == names(me, "tea coffee") == []
    me.post("/api/v1/tags/coffee/follow")
    (coffee,) = search(me, "coff")["hashtags"]
    assert (coffee["following"], len(coffee["history"])) == (True, 7)


@pytest.mark.usefixtures("delivered_at_once")
def test_a_search_for_tags_asks_each_shard_twice(people: list[int], me: Caller) -> None:
    publish(people[0], " ".join(f"#tea{n}" for n in range(20)))
    search(me, "tea", type="hashtags")
    with count_calls() as calls:
        assert len(search(me, "tea", type="hashtags")["hashtags"]) == 20
    # The names, the histories, and on one shard the viewer's lists.
    assert sorted(calls.sql.values()) == [2, 2, 2, 3]


def test_guests_find_accounts_and_no_posts(people: list[int]) -> None:
    ann = make_account("ann")
    publish(ann, "ann drinks tea")
    found = search(Client(), "ann")
    assert [account["id"] for account in found["accounts"]] == [str(ann)]
    assert found["statuses"] == []
    for query in ({"offset": 1}, {"resolve": "true"}):
        assert Client().get(PATH, {"q": "ann", **query}).status_code == 401


def test_wrong_parameters(me: Caller) -> None:
    for query in ({"q": ""}, {"q": "a", "type": "posts"}, {"q": "a", "exclude_unreviewed": "x"}):
        assert me.get(PATH, query).status_code == 422, query
    assert me.get(PATH, {"q": "a", "account_id": "x"}).status_code == 404


def test_a_search_asks_each_shard_once_and_the_same_search_none(
    people: list[int], me: Caller
) -> None:
    publish(people[1], "tea")
    other = Caller(people[2])
    assert texts(me, "tea -coffee") == texts(other, "tea -coffee") == ["tea"]
    with count_calls() as calls:
        assert texts(me, "tea") == ["tea"]
    assert calls.sql == {"shard0": 1, "shard1": 1, "shard2": 1, "shard3": 1}
    with count_calls() as calls:
        assert texts(me, "tea") == ["tea"]
        assert texts(other, "tea", limit=20) == ["tea"]
    assert calls.sql == {}
    assert calls.round_trips <= 6
    assert all(
        0 < redis().call("TTL", kept) <= TTL_S for kept in redis().call("KEYS", f"{FAMILY}*")
    )


def test_what_was_found_just_now_is_shown_as_the_viewer_may_see_it_now(
    people: list[int], me: Caller, drain: Callable[[], int]
) -> None:
    posts = [publish(author, f"tea {n}") for n, author in enumerate(people)]
    assert len(texts(me, "tea")) == 5
    delete_post(posts[1])
    hide_post(posts[2], NOW, revision=1)
    block(people[0], people[3])
    assert texts(me, "tea") == ["tea 4", "tea 0"]
    assert texts(Caller(people[3]), "tea") == ["tea 4", "tea 3"]


def test_unreadable_hits_are_searched_again(people: list[int], me: Caller) -> None:
    publish(people[1], "tea")
    assert texts(me, "tea") == ["tea"]
    (kept,) = redis().call("KEYS", f"{FAMILY}*")
    redis().call("SET", kept, b"x")
    assert texts(me, "tea") == ["tea"]


FILL = """
INSERT INTO posts_post (author_id, moment, text, sensitive, spoiler_text)
SELECT 1048576, n * %s::bigint,
    CASE n WHEN 3 THEN 'rare 東北 ' ELSE '' END || 'frequent 東京に ' || md5(n::text), false, ''
FROM generate_series(1, 8000) n
"""


STATISTICS = """
SELECT attstattarget FROM pg_attribute WHERE attrelid = 'post_terms'::regclass AND attnum = 1
"""


def test_a_frequent_word_costs_the_posts_of_some_days(world: None) -> None:
    alias, per_day = shard_of(1_048_576), 80
    execute(alias, FILL, (DAY // per_day,))
    settle(alias, "posts_post")
    ninth_day = PostId(9 * 86_400, 1, 1)

    def count(words: PostWords, below: PostId = LAST) -> int:
        search = WordSearch(words, 20, below=below)
        return len(search_words(alias, search, now_second=100 * 86_400))

    with count_calls() as calls:
        for text in ("frequent", "東京", "東京に", "に"):
            assert count(PostWords(text)) == count(PostWords(text), ninth_day) == 20, text
        assert count(PostWords("rare")) == count(PostWords("東北")) == 1
        assert count(PostWords("frequent 東京", ["frequent 東京"], unwanted=["北"])) == 20
    for statement in calls.statements:
        nodes = nodes_of(statement)
        assert {n["Index Name"] for n in nodes if "Index Name" in n} == {
            "post_public",
            "post_terms",
        }
        heap = [n for n in nodes if n["Node Type"] == "Bitmap Heap Scan"]
        assert sum(map(rows_handled, heap)) <= 4 * per_day
        compared = [n for n in nodes if n.get("Alias") == "searched"]
        # The entries of the index are enough for words, and for runs of one or two characters.
        is_exact = statement.params["text"] in ("frequent", "東京", "に", "rare", "東北")
        assert sum(map(rows_handled, compared)) <= (0 if is_exact else 20), statement.params


def test_of_many_posts_a_day_the_newest_are_found_first(world: None) -> None:
    alias, per_day = shard_of(1_048_576), 8_000
    execute(alias, FILL, (DAY // per_day,))
    settle(alias, "posts_post")
    with count_calls() as calls:
        found = search_words(alias, WordSearch(PostWords("frequent"), 20), now_second=86_400)
    assert [post_id.moment for post_id in found] == [
        n * (DAY // per_day) for n in range(per_day, per_day - 20, -1)
    ]
    (sort,) = [n for n in nodes_of(calls.statements[0]) if "candidate" in str(n.get("Alias"))]
    assert rows_handled(sort) <= NEWEST


def test_statistics_need_no_terms_of_posts(world: None) -> None:
    """ANALYZE would make the terms of 30,000 posts, until the time of the statement is over."""
    row = fetch_one("shard0", STATISTICS)
    assert row == (0,)


def test_every_text_can_be_indexed(world: None) -> None:
    for text in ["\ufdfa" * 500, "a" * 100_000, "\u3316" * 3_000, "é " * 50_000, "東京" * 1_500]:
        with connections["shard0"].cursor() as cursor:
            cursor.execute(
                "SELECT posts_terms(%s, NULL, NULL, %s, 1), posts_term_query(%s, NULL, 3)",
                [text] * 3,
            )
            assert cursor.fetchone(), text


def test_what_was_found_before_a_clock_went_back_is_searched_again(
    people: list[int], me: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Redis keeps it until the clock is there again."""
    ahead_s = time.time() + 3_600
    publish(people[1], "tea")
    with monkeypatch.context() as patch:
        patch.setattr("timelines.search.cache.time.time", lambda: ahead_s)
        assert texts(me, "tea") == ["tea"]
    publish(people[1], "tea again")
    assert texts(me, "tea") == ["tea again", "tea"]


@pytest.mark.parametrize(
    "typed",
    ["fine office", "ﬁne oﬃce", "\uff46\uff49\uff4e\uff45 \uff2f\uff26\uff26\uff29\uff23\uff25"],
)
@pytest.mark.parametrize(
    "written",
    ["fine office", "ﬁne oﬃce", "\uff26\uff49\uff4e\uff45 \uff4f\uff46\uff46\uff49\uff43\uff45"],
)
def test_ligatures_and_wide_letters_are_as_plain_ones(
    people: list[int], me: Caller, written: str, typed: str
) -> None:
    """In names, posts and tags, whichever of the two is typed."""
    publish(people[1], written)
    update_profile(people[2], ProfileEdit(display_name=written))
    publish(people[3], f"#{written.replace(' ', '')}")
    drain_all()
    assert texts(me, typed) == [written]
    assert [one["id"] for one in search(me, typed)["accounts"]] == [str(people[2])]
    for sign in ("", "#", "\uff03"):
        found = search(me, sign + typed.replace(" ", ""), type="hashtags")["hashtags"]
        assert [tag["name"] for tag in found] == ["fineoffice"]


def test_a_sign_of_full_width_begins_a_tag_everywhere(people: list[int], me: Caller) -> None:
    post = publish(people[1], "see \uff03\uff34\uff49\uff44\uff45").public
    drain_all()
    status = me.get(f"/api/v1/statuses/{post}").json()
    assert [tag["name"] for tag in status["tags"]] == ["tide"] and "/tags/tide" in status["content"]
    for query in ("", "?any[]=\uff03tide"):
        tide = me.get(f"/api/v1/timelines/tag/tide{query}").json()
        assert [one["id"] for one in tide] == [post]
    own = f"/api/v1/accounts/{people[1]}/statuses"
    assert [one["id"] for one in me.get(own, {"tagged": "\uff03tide"}).json()] == [post]
    assert len(texts(me, "\uff03tide see")) == 1
