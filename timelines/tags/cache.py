"""What accounts chose for their home timelines, in Redis: home tags, and which replies it shows.

    timelines.home_tags:v1:{account}   version:fresh until:a JSON list of normalized tags, sorted

A home tag is a followed tag whose posts home shows. A choice of replies other than the first one is
in the list behind a colon, which no tag has. Empty for an account that chose nothing, as most. A
change replaces the entry.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import msgspec

from accounts.sql import HOME_CHOICES
from accounts.texts.links import normalize_tag
from accounts.types import HOME_REPLIES
from infra.caching.questions import Question
from infra.caching.values import ValueCache, Versioned
from infra.sharding.buckets import group_by_shard
from infra.sharding.scatter import scatter
from infra.sharding.sql import fetch_all

# One statement, hence one snapshot: the tags match the version exactly.
READ = f"""
SELECT wanted.id, COALESCE(account.version, 0) + COALESCE(settings.version, 0), ARRAY(
    SELECT name FROM tags_accounttag WHERE owner_id = wanted.id AND kind = 0 AND settings.is_at_home
), account.home_replies
FROM unnest(%s::bigint[]) AS wanted (id)
LEFT JOIN {HOME_CHOICES} AS account ON account.id = wanted.id
LEFT JOIN tags_tagsettings AS settings ON settings.owner_id = wanted.id
"""  # noqa: S608
MARK = ":"
HomeTags = tuple[str, ...]


class HomeChoices(NamedTuple):
    """`tags`: the home tags, normalized. `replies`: of HOME_REPLIES."""

    tags: HomeTags = ()
    replies: str = HOME_REPLIES[0]


NO_CHOICES = HomeChoices()

_decode = msgspec.json.Decoder(HomeTags).decode


def _load(account_ids: Sequence[int]) -> Mapping[int, Versioned]:
    calls = {
        alias: partial(fetch_all, alias, READ, (ids,))
        for alias, ids in group_by_shard(account_ids).items()
    }
    rows = [row for part in scatter(calls).values() for row in part]
    return {account_id: Versioned(version, _pack(*chosen)) for account_id, version, *chosen in rows}


def _pack(names: Iterable[str], replies: str | None) -> bytes:
    chosen = sorted(map(normalize_tag, names))
    if replies in HOME_REPLIES[1:]:
        chosen.append(f"{MARK}{replies}")
    return msgspec.json.encode(chosen) if chosen else b""


def _unpack(payload: bytes | None) -> HomeChoices:
    chosen = _decode(payload) if payload else ()
    if not chosen or not chosen[-1].startswith(MARK):
        return HomeChoices(chosen)
    return HomeChoices(chosen[:-1], chosen[-1].removeprefix(MARK))


def _is_known(payload: bytes) -> bool:
    """Whether it can be decoded, and this release knows the choice."""
    return _unpack(payload).replies in HOME_REPLIES


_home_tags = ValueCache("timelines.home_tags:v1", ttl_s=86_400, load=_load, check=_is_known)


def ask_home_choices(account_id: int) -> Question[HomeChoices]:
    """What the account wants at home.

    Cost: one command; one query and two more round trips when Redis lacks them.
    """
    asked = _home_tags.ask_uncopied([account_id])
    return asked.then(lambda payloads: _unpack(payloads.get(account_id)))


def ask_home_tags(account_id: int) -> Question[HomeTags]:
    """The account's home tags; none unless it wants their posts at home. Cost: as above."""
    return ask_home_choices(account_id).then(lambda choices: choices.tags)


def refresh_home_choices(account_ids: Iterable[int]) -> None:
    """Writes the current choices to the entries that Redis has. One query a shard, one round
    trip, which is shared inline. Raises: RedisError, so that the consumer runs again."""
    _home_tags.refresh(_load(list(dict.fromkeys(account_ids))))
