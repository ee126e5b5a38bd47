"""Computes the trends: what is used more than usual, and what many people mark now."""

from collections.abc import Mapping, Sequence

from timelines.tags.queries.tag_usage import load_histories
from timelines.tags.types import tag_id_of
from timelines.trends.cache import keep_trends
from timelines.trends.queries.candidates import list_marked_posts, list_used_tags
from timelines.trends.types import MarkedPost, Trends, UsedTag

# Fewer are no trend: one person, or two who agree.
LEAST_ACCOUNTS, LEAST_MARKS = 3, 3
# More than the API returns, because a viewer may not see all posts.
MOST_TAGS, MOST_POSTS = 40, 200
HALF_LIFE_S = 12 * 3_600


def compute_trends(now_s: float) -> Trends:
    """Computes and keeps them. Safety: a run that dies leaves the trends of the one before; several
    at once keep about the same.

    Raises: OperationalError, InterfaceError, RedisError. Cost: two queries on each shard, one more
    on the shards of MOST_TAGS tags, and a round trip to Redis.
    """
    used = [tag for tag in list_used_tags(now_s) if tag.accounts >= LEAST_ACCOUNTS][:MOST_TAGS]
    ids = {tag.name: tag_id_of(tag.name) for tag in used}
    histories = load_histories(ids.values(), now_s)
    usual = {name: _usual_accounts(histories[tag_id]) for name, tag_id in ids.items()}
    marked = [post for post in list_marked_posts(now_s) if post.marks >= LEAST_MARKS]
    trends = Trends(_best_tags(used, usual), _best_posts(marked, now_s))
    keep_trends(trends)
    return trends


def _usual_accounts(history: Sequence[Mapping[str, str]]) -> float:
    """A day's accounts before today, at least one."""
    before = history[1:]
    return max(1.0, sum(int(day["accounts"]) for day in before) / len(before))


def _best_tags(used: Sequence[UsedTag], usual: Mapping[str, float]) -> list[str]:
    """By how much more accounts use a tag than usually, as Mastodon compares them."""

    def score(tag: UsedTag) -> float:
        more = tag.accounts - usual[tag.name]
        return more**2 / usual[tag.name] if more > 0 else 0.0

    best = sorted(used, key=lambda tag: (-score(tag), tag.name))
    return [tag.name for tag in best if score(tag)]


def _best_posts(marked: Sequence[MarkedPost], now_s: float) -> list[str]:
    """By marks; after HALF_LIFE_S a post needs twice as many to be in the same place."""

    def score(post: MarkedPost) -> float:
        age_s = max(0.0, now_s - post.post_id.posted_at_s)
        return float(post.marks * 0.5 ** (age_s / HALF_LIFE_S))

    best = sorted(marked, key=lambda post: (-score(post), post.post_id))
    return [post.post_id.public for post in best[:MOST_POSTS]]
