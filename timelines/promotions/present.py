"""A promotion as JSON: what clients of Mastodon know as a repost, and two forms they do not know.

A promoted post is a repost by its own author, under the id of its place on the page: the post's own
id stands elsewhere in time, and a client that took it for a cursor would skip.
"""

import orjson

from posts.api.present import NO_COUNTS, encode_post, present_repost, present_status
from posts.ids import PostId
from posts.queries.statuses import ViewedPosts
from posts.types import Kind, PostRow
from timelines.promotions.types import Ad, RunningCampaign


def present_promotion(campaign: RunningCampaign, place: PostId, view: ViewedPosts) -> bytes:
    """One item of a page; the target exists, as `may_show` (rules.py) has found."""
    mark = b'"promoted":true,"campaign":"%d","type":"%b"' % (campaign.id, campaign.kind.encode())
    target = campaign.target
    if isinstance(target, PostId):
        return b"%b,%b}" % (_present_post(target, place, view)[:-1], mark)
    head = b'{"id":"%b",%b' % (place.public.encode(), mark)
    if isinstance(target, Ad):
        return b'%b,"ad":%b}' % (head, orjson.dumps(target._asdict()))
    return b'%b,"account":%b}' % (head, view.hydrated.accounts[target])


def _present_post(post_id: PostId, place: PostId, view: ViewedPosts) -> bytes:
    shown, flags = view.hydrated, view.own.get(post_id, 0)
    account, counts = shown.accounts[post_id.author_id], shown.counts.get(post_id, NO_COUNTS)
    status = present_status(shown.fragments[post_id], account, counts, flags)
    row = PostRow(place.author_id, place.moment, "", False, "", None, Kind.REPOST, *_key(post_id))
    return present_repost(encode_post(row), account, status, counts, flags)


def _key(post_id: PostId) -> tuple[int, int]:
    return post_id.author_id, post_id.moment
