"""Entities of the API as pages get them: at least one post of each kind that pages show."""

from typing import Any

Entity = dict[str, Any]
EVIL = "<script>alert('1')</script> \"&amp;\" \u202eback"
BLUR = "LEHV6nWB2yk8pyo0adR*.7kCMdnj"
AT = "2020-02-03T04:05:06.000Z"


def account(number: int, name: str = "") -> Entity:
    avatar = f"http://localhost/avatars/{number}.svg?a=1&b=2"
    acct = f"person{number}"
    return {"id": f"{number}", "acct": acct, "display_name": name, "avatar": avatar, "note": ""}


ANN, BOB, EVE = account(1, "Ann"), account(2), account(3, EVIL)


def post(number: int, author: Entity = BOB, **others: Any) -> Entity:
    entity = {
        "id": f"{number}", "account": author, "content": f"<p>Post <b>{number}</b></p>",
        "created_at": AT, "edited_at": None, "visibility": "public", "sensitive": False,
        "spoiler_text": "", "in_reply_to_id": None, "reblog": None, "poll": None,
        "media_attachments": [], "filtered": [], "reblogs_count": 0, "favourites_count": 0,
        "replies_count": 0,
    }  # fmt: skip
    marks = dict.fromkeys(("reblogged", "favourited", "bookmarked", "muted", "pinned"), False)
    return {**entity, **marks, **others}


def poll(number: int, **others: Any) -> Entity:
    options = [{"title": EVIL, "votes_count": 3}, {"title": "No", "votes_count": 1}]
    open_one = {"multiple": False, "voted": False, "expired": False, "own_votes": []}
    end = {"expires_at": "2020-02-04T04:05:06.000Z", "voters_count": 4, "options": options}
    return {"id": f"{number}", **open_one, **end, **others}


def photo(number: int, **others: Any) -> Entity:
    url = f"http://localhost/media/{number}.webp"
    small = {"small": {"width": 400, "height": 300}, "original": {"width": 800, "height": 600}}
    entity = {"url": url, "preview_url": f"{url}?small", "description": None, "meta": small}
    return {"id": f"{number}", **entity, **others}


def matched(title: str, action: str, place: str = "home") -> Entity:
    return {"filter": {"title": title, "context": [place], "filter_action": action}}


def repost(number: int, *people: Entity, **others: Any) -> Entity:
    return post(number, people[0], reblog=post(number + 1, EVE), **others)


HIDDEN = [{"title": "Yes", "votes_count": None}, {"title": "No", "votes_count": None}]
ORIGINAL = {"original": {"width": 800, "height": 600}}
AD = {"url": "https://tea.example/?a=1&b=2", "title": EVIL, "text": "Tea & more"}
ALL_MARKS = dict.fromkeys(("reblogged", "favourited", "bookmarked", "muted", "pinned"), True)
COUNTS = {"reblogs_count": 1_234, "favourites_count": 56_789, "replies_count": 7}
VARIED = [
    post(10),
    post(11, EVE, content='<p>Hi <a href="/@a" translate="no">@a</a></p><p>&lt;b&gt;</p>'),
    post(12, edited_at=AT, **COUNTS),
    post(13, **ALL_MARKS, **COUNTS),
    post(14, ANN, **ALL_MARKS),
    post(15, ANN, visibility="private", in_reply_to_id="10"),
    post(16, visibility="private"),
    post(17, visibility="direct"),
    post(18, visibility="unlisted"),
    post(19, in_reply_to_id="18", in_reply_to_account_id="3", mentions=[EVE]),
    post(190, in_reply_to_id="19", in_reply_to_account_id="2", language="pt-BR"),
    post(20, spoiler_text=EVIL),
    post(
        21,
        media_attachments=[photo(1, blurhash=BLUR), photo(2, description=EVIL, preview_url=None)],
    ),
    post(22, media_attachments=[photo(3, meta=ORIGINAL)], sensitive=True),
    post(23, media_attachments=[photo(4, meta={}), photo(5)], sensitive=True, spoiler_text="Art"),
    post(24, poll=poll(24)),
    post(25, poll=poll(25, multiple=True)),
    post(26, poll=poll(26, voted=True, own_votes=[1])),
    post(27, poll=poll(27, expired=True, voters_count=1), spoiler_text="Vote"),
    post(28, poll=poll(28, voted=True, options=HIDDEN, voters_count=0)),
    post(29, ANN, poll=poll(29)),
    post(30, filtered=[matched(EVIL, "warn")], spoiler_text="Tea"),
    post(31, filtered=[matched("Hidden", "hide")]),
    post(32, filtered=[matched("Covered", "blur")], media_attachments=[photo(6), photo(7)]),
    post(33, filtered=[matched("Elsewhere", "warn", "thread")]),
    post(34, ANN, filtered=[matched("Own", "hide")]),
    repost(40, BOB),
    repost(42, EVE, BOB, reblogged_by=[EVE, BOB]),
    repost(44, EVE, BOB, ANN, reblogged_by=[EVE, BOB, ANN]),
    repost(46, EVE, BOB, ANN, BOB, reblogged_by=[EVE, BOB, ANN, BOB]),
    repost(50, BOB, promoted=True),
    {"id": "52", "promoted": True, "reblog": None, "account": account(5) | {"note": "<p>Tea</p>"}},
    {"id": "53", "promoted": True, "reblog": None, "ad": AD},
]
