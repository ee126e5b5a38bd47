"""What moderators read of accounts on their shards: profiles, counts and posts.

A shard that is down or hangs does not break the page: the answer says that it is missing.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from accounts.images.queries.image_lists import ListedImage, load_images
from accounts.queries.profiles import read_profiles
from accounts.types import Profile
from counters.kinds import ACCOUNT_KINDS
from counters.queries.counts import read_counts, summarise
from counters.types import AccountCounts
from infra.sharding.buckets import group_by_shard, shard_of
from infra.sharding.probe import probe_all
from posts.ids import PostId
from posts.queries.moderated import ModeratedPost, list_latest_ids, load_moderated_posts

LATEST_POSTS = 10


class AccountLine(NamedTuple):
    """An account in a list. `profile`: None if the shard has no row yet."""

    profile: Profile | None
    counts: AccountCounts


class AccountFacts(NamedTuple):
    """An account with some of its posts. `latest`: the newest that all may see. `images`: those of
    the posts. `problem`: why all is missing; empty if the shard answered.
    """

    account_id: int
    line: AccountLine | None
    posts: Mapping[PostId, ModeratedPost]
    latest: Sequence[PostId]
    images: Mapping[int, ListedImage]
    problem: str = ""


def load_lines(account_ids: Iterable[int]) -> dict[int, AccountLine]:
    """Accounts by id; those of shards that do not answer are missing. Two queries a shard."""
    calls = {
        alias: partial(_read_lines, alias, ids)
        for alias, ids in group_by_shard(account_ids).items()
    }
    answers = [answer.value for answer in probe_all(calls).values() if not answer.problem]
    return {account_id: line for lines in answers for account_id, line in lines.items()}


def read_account_facts(account_id: int, post_ids: Sequence[PostId] = ()) -> AccountFacts:
    """An account with these posts of it, and its latest ones. Cost: five queries on its shard."""
    alias = shard_of(account_id)
    answer = probe_all({alias: partial(_ask_shard, alias, account_id, post_ids)})[alias]
    if answer.problem:
        return AccountFacts(account_id, None, {}, (), {}, answer.problem)
    facts: AccountFacts = answer.value
    return facts


def load_posts(post_ids: Iterable[PostId]) -> tuple[dict[PostId, ModeratedPost], dict[str, str]]:
    """Posts of several authors by id, and by shard that does not answer why.

    Cost: one query an author, on all shards at once.
    """
    by_author: defaultdict[int, list[PostId]] = defaultdict(list)
    for post_id in post_ids:
        by_author[post_id.author_id].append(post_id)
    calls = {
        alias: partial(_read_posts, {author: by_author[author] for author in authors})
        for alias, authors in group_by_shard(by_author).items()
    }
    answers = probe_all(calls)
    posts = [answer.value for answer in answers.values() if not answer.problem]
    problems = {alias: answer.problem for alias, answer in answers.items() if answer.problem}
    return {id_: post for each in posts for id_, post in each.items()}, problems


def _read_posts(by_author: Mapping[int, Sequence[PostId]]) -> dict[PostId, ModeratedPost]:
    pages = [load_moderated_posts(author, ids) for author, ids in by_author.items()]
    return {id_: post for page in pages for id_, post in page.items()}


def _read_lines(alias: str, account_ids: Sequence[int]) -> dict[int, AccountLine]:
    profiles = {profile.id: profile for profile in read_profiles(alias, account_ids)}
    counts = read_counts(alias, account_ids, ACCOUNT_KINDS)
    return {id_: AccountLine(profiles.get(id_), summarise(counts[id_])) for id_ in account_ids}


def _ask_shard(alias: str, account_id: int, post_ids: Sequence[PostId]) -> AccountFacts:
    line = _read_lines(alias, [account_id])[account_id]
    latest = list_latest_ids(account_id, LATEST_POSTS)
    posts = load_moderated_posts(account_id, dict.fromkeys([*post_ids, *latest]))
    ids = {i.id for post in posts.values() for text in post.versions for i in text.images}
    images = load_images(account_id, [*ids]) if ids else {}
    return AccountFacts(account_id, line, posts, latest, images)
