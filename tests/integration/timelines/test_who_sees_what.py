"""What a viewer sees of another account on each surface, by what is between them.

who_sees_what.txt is the table: `yes`, `-`, or the state of a quote. A surface or a state that is
not in it fails the test, with the lines that were observed: check them, and write them into the
file. The OpenAPI document names the routes that show accounts or posts, so none is forgotten.
"""

import json
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from difflib import unified_diff
from pathlib import Path
from typing import Any

import pytest

from accounts.actions.update_profile import update_profile
from accounts.types import ProfileEdit, Restriction
from infra.caching.questions import Question
from infra.clock import now_ms
from infra.sharding.buckets import shard_of
from lab.accept.facts import openapi_document
from lab.accept.routes import SiteRoute
from posts.actions.create_post import create_post
from posts.actions.declare_reaction import declare_reaction
from posts.actions.edit_post import edit_post
from posts.actions.mark_post import mark_post
from posts.actions.repost import repost
from posts.conversations.queries.conversations import count_visible
from posts.ids import PostId
from posts.queries.reactions import get_reaction_kind
from posts.queries.rows import find_post_row
from posts.reading.viewing import view_posts
from posts.types import Draft, Kind, Visibility
from relations.actions.block import block
from relations.actions.endorse import endorse
from relations.actions.follow import follow
from relations.actions.mute import mute
from relations.lists.actions.lists import create_account_list
from relations.lists.actions.members import add_members
from relations.types import FollowOptions
from tests.callers import Caller
from tests.delivered import deliver_all
from tests.integration.streaming.listening import publish_marker, streaming_site
from tests.integration.timelines.catching_up import mark, read_all
from tests.world import make_account, make_accounts, publish, restrict
from timelines.increments.followees import find_followees
from timelines.promotions.rules import may_see_target
from timelines.promotions.types import CampaignKind, RunningCampaign
from timelines.tags.actions.own_tags import add_own_tag, choose_at_home
from timelines.tags.types import TagListKind
from timelines.trends.actions.compute import compute_trends

TABLE = Path(__file__).with_name("who_sees_what.txt")
V1 = "/api/v1"
HOUR_S = 3_600
Act = Callable[[int, int], object]
Seen = Mapping[str, str]
REFERENCE = re.compile(r"#/components/schemas/(\w+)")
SHOWING = {"Account", "Status", "HomeStatus", "Version"}
# The table has no row of these routes. They show by the rule of another row, or an own list, which
# keeps all accounts but suspended ones.
OTHER_ROUTES = {
    "account itself": ("accounts", "accounts/lookup"),
    "post itself": ("statuses", "statuses/{status_id}/history"),
    "notifications": (
        *("notifications/{notification_id}", "notifications/requests"),
        *("notifications/requests/{account_id}", "strikes"),
    ),
    "grouped notifications": ("notifications/{group_key}", "notifications/{group_key}/accounts"),
    "conversations": ("conversations/{conversation_id}",),
    "own lists": (
        *("accounts/quiet_followers", "accounts/quiet_following", "accounts/special_following"),
        *("blocks", "endorsements", "follow_requests", "lists/{list_id}/accounts"),
    ),
}


def _past(me: int, them: int) -> None:
    mute(me, them, 1, clock_ms=lambda: now_ms() - HOUR_S * 1000)


def _ask(me: int, them: int) -> None:
    update_profile(them, ProfileEdit(is_locked=True))
    follow(me, them)


def _limit(_: int, them: int) -> None:
    restrict(them, Restriction.LIMITED)


def _exclude(me: int, them: int) -> None:
    add_members(me, create_account_list(me, "only here", exclusive=True).list_id, [them])


def _follow(options: FollowOptions) -> Act:
    return lambda me, them: follow(me, them, options)


# What is done between the viewer and the account; `followed` at the start: the viewer follows it.
STATES: Mapping[str, tuple[Act, ...]] = {
    "stranger": (),
    "requested": (_ask,),
    "muted": (lambda me, them: mute(me, them, hides_notifications=False),),
    "silenced": (mute,),
    "past_mute": (_past,),
    "blocked": (block,),
    "blocks_me": (lambda me, them: block(them, me),),
    "limited": (_limit,),
    "suspended": (lambda _, them: restrict(them, Restriction.SUSPENDED),),
    "followed": (),
    "f_quietly": (_follow(FollowOptions(quiet=True)),),
    "f_no_reposts": (_follow(FollowOptions(reposts=False)),),
    "f_in_german": (_follow(FollowOptions(languages=["de"])),),
    "f_exclusive": (_exclude,),
    "f_muted": (lambda me, them: mute(me, them, hides_notifications=False),),
    "f_silenced": (mute,),
    "f_muted_hour": (lambda me, them: mute(me, them, HOUR_S),),
    "f_past_mute": (_past,),
    "f_limited": (_limit,),
    "f_blocks_me": (lambda me, them: block(them, me),),
}


def _is_followed(state: str) -> bool:
    return state.startswith("f")


class Asker(Caller):
    """`asked`: the routes, as the OpenAPI document writes them, without the version."""

    def __init__(self, account_id: int) -> None:
        super().__init__(account_id)
        self.asked = set[str]()

    def get(self, path: str, query: Any = None) -> Any:
        answer = super().get(path, query)
        self.asked.add(_without_version(SiteRoute(answer.resolver_match.route, None).template))
        return answer


def _without_version(template: str) -> str:
    return re.sub(r"^/api/v\d/", "", template)


class Scene:
    """Each account did the same before its state began. A friend, whom I follow and who follows
    all, quotes, reposts and addresses each; all follow the friend. `posts`: by their name, and by
    the state of the account that they tell of."""

    def __init__(self) -> None:
        self.me, self.friend, self.other = map(make_account, ("me", "friend", "other"))
        self.caller = Asker(self.me)
        declare_reaction("clap", {"en": "claps"}, at_ms=0)
        self.them = {state: make_account(f"zed_{state}") for state in STATES}
        follow(self.me, self.friend)
        self.first = publish(self.friend, "first")
        self.root, self.mine = publish(self.other, "root"), publish(self.me, "mine")
        for state, account_id in self.them.items():
            if _is_followed(state):
                follow(self.me, account_id)
            follow(account_id, self.friend)
            follow(self.friend, account_id)
            endorse(self.friend, account_id)
        deliver_all()
        self.list_id = create_account_list(self.me, "all").list_id
        add_members(self.me, self.list_id, [i for s, i in self.them.items() if _is_followed(s)])
        made = {state: self._act(state, account_id) for state, account_id in self.them.items()}
        names = next(iter(made.values()))
        self.posts = {name: {state: made[state][name] for state in made} for name in names}
        deliver_all()
        for state, acts in STATES.items():
            for act in acts:
                act(self.me, self.them[state])
        deliver_all()

    def _act(self, state: str, them: int) -> dict[str, PostId]:
        """What the account does, and what others do with it."""
        post = create_post(them, Draft(f"zebra by {state}", language="en"))
        direct = Draft(f"@me direct {state}", visibility=Visibility.DIRECT)
        reposted = publish(them, f"brought {state}")
        for original in (self.root, self.mine):
            for kind in (Kind.FAVOURITE, get_reaction_kind("clap")):
                mark_post(them, original, kind, True)
        for fan in (self.me, self.friend, self.other):
            mark_post(fan, post, Kind.FAVOURITE, True)
        mark_post(self.me, post, Kind.BOOKMARK, True)
        repost(them, self.root)
        return {
            "post": post,
            "tagged": publish(them, f"#tea {state}"),
            "private": create_post(them, Draft(f"closed {state}", visibility=Visibility.PRIVATE)),
            "repost by": repost(them, publish(self.other, f"brought by {state}")),
            "reposted": reposted,
            "repost of": repost(self.friend, reposted),
            "addressing": publish(self.friend, f"hello @zed_{state}"),
            "mention": publish(them, f"@me named by {state}"),
            "reply": create_post(them, Draft(f"reply {state}", in_reply_to=self.root)),
            "quoting": create_post(them, Draft(f"look {state}", quoted=self.root)),
            "quote of": create_post(self.friend, Draft(f"look at {state}", quoted=post)),
            "direct": create_post(them, direct),
        }

    def ids_in(self, path: str, query: Any = None) -> set[str]:
        """Ids of posts or accounts, of one page."""
        query = {"limit": "80", **(query or {})}
        answer = self.caller.get(V1 + path, query)
        assert answer.status_code == 200, (path, answer.content)
        return {str(entity["id"]) for entity in answer.json()}

    def posts_in(self, name: str, ids: Iterable[str]) -> Seen:
        found = set(ids)
        posts = self.posts[name].items()
        return {state: "yes" for state, post_id in posts if post_id.public in found}

    def accounts_in(self, ids: Iterable[object]) -> Seen:
        found = {str(account_id) for account_id in ids}
        return {state: "yes" for state, i in self.them.items() if str(i) in found}

    def each(self, is_seen: Callable[[str], bool]) -> Seen:
        return {state: "yes" for state in self.them if is_seen(state)}

    def is_found(self, path: str) -> bool:
        return bool(self.caller.get(V1 + path).status_code == 200)

    def pages_of(self, path: str) -> set[str]:
        """Ids of all its posts. A post that I have by its repost is at the newer one of both."""
        found, below = set[str](), {}
        while page := self.caller.get(V1 + path, {"limit": "40", **below}).json():
            found |= {status["id"] for status in page}
            found |= {status["reblog"]["id"] for status in page if status["reblog"]}
            below = {"max_id": page[-1]["id"]}
        return found


@pytest.fixture
def scene(world: None) -> Scene:
    return Scene()


def test_each_surface_shows_what_the_table_says(scene: Scene) -> None:
    observed = {
        **_of_timelines(scene),
        **_of_posts(scene),
        **_of_accounts(scene),
        **_of_notices(scene),
        **_of_promotions(scene),
        **_of_services(scene),
        **_of_streams(scene),
        **_at_home_by_tag(scene),
    }
    written, table = _write(observed).splitlines(), TABLE.read_text().splitlines()
    assert written == table, "\n" + "\n".join(unified_diff(table, written, n=0, lineterm=""))
    elsewhere = {route for routes in OTHER_ROUTES.values() for route in routes}
    assert not elsewhere & scene.caller.asked
    assert _showing_routes() == elsewhere | scene.caller.asked & _showing_routes()


def _showing_routes() -> set[str]:
    """Those of GET whose answer has an entity of SHOWING, or one that has one."""
    document = openapi_document()

    def has_entity(schema: object, known: frozenset[str] = frozenset()) -> bool:
        names = set(REFERENCE.findall(json.dumps(schema, default=str))) - known
        within = (document["components"]["schemas"].get(name) for name in names)
        return bool(names & SHOWING) or any(has_entity(each, known | names) for each in within)

    return {
        _without_version(path)
        for path, methods in document["paths"].items()
        if has_entity(methods.get("get", {}).get("responses", {}).get("200"))
    }


def _of_timelines(scene: Scene) -> dict[str, Seen]:
    home = scene.pages_of("/timelines/home")
    lists = [each["id"] for each in scene.caller.get(f"{V1}/lists").json()]
    on_list = set().union(*(scene.pages_of(f"/timelines/list/{i}") for i in lists))
    public, tag = scene.pages_of("/timelines/public"), scene.pages_of("/timelines/tag/tea")
    mark(scene.caller, scene.first.public)
    caught_up = read_all(scene.caller).ids
    news = find_followees(scene.me, now_ms(), Question((), lambda _: None)).account_ids
    compute_trends(now_ms() / 1000)
    names = ("post", "private", "repost by", "reposted", "addressing")
    return {
        **{f"home: {name}": scene.posts_in(name, home) for name in names},
        **{f"list: {name}": scene.posts_in(name, on_list) for name in names[:3]},
        "catch-up: post": scene.posts_in("post", caught_up),
        "news": scene.accounts_in(news),
        "public: post": scene.posts_in("post", public),
        "tag: post": scene.posts_in("tagged", tag),
        "trends: post": scene.posts_in("post", scene.ids_in("/trends/statuses", {"limit": "40"})),
    }


def _of_posts(scene: Scene) -> dict[str, Seen]:
    posts, root = scene.posts, f"/statuses/{scene.root.public}"
    context = scene.caller.get(f"{V1}{root}/context").json()
    searched = scene.caller.get("/api/v2/search", {"q": "zebra", "limit": "40"}).json()
    pages = {s: scene.pages_of(f"/accounts/{i}/statuses") for s, i in scene.them.items()
             if scene.is_found(f"/accounts/{i}/statuses")}  # fmt: skip
    on_pages = set().union(*pages.values())
    return {
        **{f"author's page: {name}": scene.posts_in(name, on_pages)
           for name in ("post", "private", "repost by")},
        **{
            f"post itself: {name}": scene.each(
                lambda state, name=name: scene.is_found(f"/statuses/{posts[name][state].public}")
            )
            for name in ("post", "private", "repost of")
        },
        "thread": scene.posts_in("reply", (each["id"] for each in context["descendants"])),
        "quotes of a post": scene.posts_in("quoting", scene.ids_in(f"{root}/quotes")),
        "quote in a post": {s: _quote_state(scene, i) for s, i in posts["quote of"].items()},
        "search of posts": scene.posts_in("post", (each["id"] for each in searched["statuses"])),
        "favourites": scene.posts_in("post", scene.ids_in("/favourites")),
        "bookmarks": scene.posts_in("post", scene.ids_in("/bookmarks")),
    }  # fmt: skip


def _quote_state(scene: Scene, quoting: PostId) -> str:
    quote = scene.caller.get(f"{V1}/statuses/{quoting.public}").json()["quote"]
    return str(quote["state"].removesuffix("_account"))


def _of_accounts(scene: Scene) -> dict[str, Seen]:
    root, friend = f"/statuses/{scene.root.public}", f"/accounts/{scene.friend}"
    [familiar] = scene.caller.get(f"{V1}/accounts/familiar_followers?id={scene.friend}").json()
    exact = (
        scene.each(lambda state: str(scene.them[state]) in scene.ids_in(
            "/accounts/search", {"q": f"zed_{state}", "limit": "1"}))
    )  # fmt: skip
    return {
        "favourited_by": scene.accounts_in(scene.ids_in(f"{root}/favourited_by")),
        "reacted_by": scene.accounts_in(scene.ids_in(f"{root}/reacted_by/clap")),
        "reblogged_by": scene.accounts_in(scene.ids_in(f"{root}/reblogged_by")),
        "followers of another": scene.accounts_in(scene.ids_in(f"{friend}/followers")),
        "followees of another": scene.accounts_in(scene.ids_in(f"{friend}/following")),
        "endorsements of another": scene.accounts_in(scene.ids_in(f"{friend}/endorsements")),
        "familiar followers": scene.accounts_in(a["id"] for a in familiar["accounts"]),
        "account itself": scene.each(lambda s: scene.is_found(f"/accounts/{scene.them[s]}")),
        "search of accounts": scene.accounts_in(scene.ids_in("/accounts/search", {"q": "zed"})),
        "search of a name": exact,
        "directory": scene.accounts_in(scene.ids_in("/directory")),
        "suggestions": scene.accounts_in(scene.ids_in("/suggestions")),
    }


def _of_notices(scene: Scene) -> dict[str, Seen]:
    listed = scene.caller.get(f"{V1}/notifications", {"limit": "80"}).json()
    actors = {
        kind: [each["account"]["id"] for each in listed if each["type"] == kind]
        for kind in ("favourite", "mention")
    }
    groups = scene.caller.get("/api/v2/notifications", {"limit": "80"}).json()
    conversations = scene.caller.get(f"{V1}/conversations", {"limit": "40"}).json()
    shown = [each["last_status"]["id"] for each in conversations]
    direct = scene.posts["direct"]
    return {
        **{f"notifications: {kind}": scene.accounts_in(ids) for kind, ids in actors.items()},
        "grouped notifications": scene.accounts_in(each["id"] for each in groups["accounts"]),
        "conversations": scene.posts_in("direct", shown),
        "unread conversations": scene.each(
            lambda state: count_visible(scene.me, [direct[state]], 1, now_ms()) == 1
        ),
    }


def _of_promotions(scene: Scene) -> dict[str, Seen]:
    kinds = {"post": CampaignKind.POST, "account": CampaignKind.ACCOUNT}
    targets: Mapping[str, Mapping[str, PostId | int]] = {
        "post": scene.posts["post"], "account": scene.them
    }  # fmt: skip

    def is_promoted(kind: str, state: str) -> bool:
        target, post = targets[kind][state], scene.posts["post"][state]
        campaign = RunningCampaign(1, kinds[kind], target, 1, 1, 1, 100, 0, 2e9, None)
        return may_see_target(campaign, view_posts({post: post}, scene.me), now_ms())

    return {
        f"promotion: {kind}": scene.each(lambda state, kind=kind: is_promoted(kind, state))
        for kind in kinds
    }


def _of_services(scene: Scene) -> dict[str, Seen]:
    """A service is no account: nothing is between it and an account."""
    service, events, after = Caller(None, "service:changes"), [], ""
    path = f"{V1}/services/events"
    start = service.get(path, {"after": after}).json()
    for state, account_id in scene.them.items():
        publish(account_id, f"for services {state}")
    deliver_all()
    after, has_more = start["position"], True
    while has_more:
        page = service.get(path, {"after": after, "limit": "100"}).json()
        after, has_more = page["position"], page["has_more"]
        events += page["events"]
    authors = (e["data"]["account_id"] for e in events if e["type"] == "post.created")
    return {"events of services": scene.accounts_in(authors)}


def _of_streams(scene: Scene) -> dict[str, Seen]:
    """What is published and edited while clients listen."""
    with streaming_site() as site:
        own, public = site.listen(scene.me), site.listen(scene.me, "public")
        posts = {
            "update": _publish(scene, "streamed"), "notification": _publish(scene, "@me streamed"),
            "status.update": {s: i.public for s, i in scene.posts["mention"].items()},
        }  # fmt: skip
        for state, post_id in scene.posts["mention"].items():
            row = find_post_row(post_id)
            assert row is not None
            edit_post(row, Draft(f"@me edited by {state}", language="en"))
        deliver_all()
        for marker in _of_each_shard(scene.me):
            publish_marker(site, marker, own, public)
        heard = {(h.event, _post_of(h.payload)) for h in own.heard}
        in_public = {(h.event, _post_of(h.payload)) for h in public.heard}
    names = {
        "update": "stream: post",
        "notification": "stream: notification",
        "status.update": "stream: edited mention",
    }
    return {
        "stream of all: post": _seen("update", posts["update"], in_public),
        **{name: _seen(event, posts[event], heard) for event, name in names.items()},
    }


def _publish(scene: Scene, text: str) -> dict[str, str]:
    draft = Draft(text, language="en")
    return {state: create_post(i, draft).public for state, i in scene.them.items()}


def _of_each_shard(reader_id: int) -> Iterable[int]:
    """Followees of the reader. Changes of one shard are heard in their order."""
    by_shard = {shard_of(account_id): account_id for account_id in make_accounts(12)}
    for account_id in by_shard.values():
        follow(reader_id, account_id)
    deliver_all()
    return by_shard.values()


def _post_of(payload: str) -> str:
    """Of the entity of a post or a notification, or the id of a post that is gone."""
    if not payload.startswith("{"):
        return payload
    entity = json.loads(payload)
    return str((entity.get("status") or entity)["id"])


def _seen(event: str, posts: Mapping[str, str], heard: Collection[tuple[str, str]]) -> Seen:
    return {state: "yes" for state, post_id in posts.items() if (event, post_id) in heard}


def _at_home_by_tag(scene: Scene) -> dict[str, Seen]:
    add_own_tag(scene.me, TagListKind.FOLLOWED, "tea")
    choose_at_home(scene.me, True)
    deliver_all()
    return {
        f"{path}: followed tag": scene.posts_in("tagged", scene.pages_of(f"/timelines/{path}"))
        for path in ("home", "followed_tags")
    }


def _write(table: Mapping[str, Seen]) -> str:
    lines = ["surface".ljust(28) + "  ".join(STATES)]
    for surface, seen in table.items():
        cells = (seen.get(state, "-").ljust(len(state)) for state in STATES)
        lines.append(surface.ljust(28) + "  ".join(cells).rstrip())
    return "\n".join(lines) + "\n"
