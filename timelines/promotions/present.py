"""A promotion as JSON: a repost for clients of Mastodon, or an account or ad for other clients.

A promoted post is shown as a repost by its own author, under the id of its slot on the page. The
post's own id belongs to another time: a client that used it as a cursor would skip entries.
"""

import orjson

from posts.fragments.present import (
    NO_COUNTS,
    encode_post,
    present_repost,
    present_status,
)
from posts.fragments.reactions import LEAST_FLAG, with_own_reactions
from posts.ids import PostId
from posts.reading.viewing import ViewedPosts
from posts.types import Kind, PostRow
from timelines.promotions.types import Ad, RunningCampaign


def present_promotion(campaign: RunningCampaign, slot_id: PostId, viewed: ViewedPosts) -> bytes:
    """One item of a page. The target must exist: `may_see_target` has checked it."""
    fields = b'"promoted":true,"campaign":"%d","type":"%b"' % (campaign.id, campaign.kind.encode())
    target = campaign.target
    if isinstance(target, PostId):
        return b"%b,%b}" % (_present_post(target, slot_id, viewed)[:-1], fields)
    head = b'{"id":"%b",%b' % (slot_id.public.encode(), fields)
    if isinstance(target, Ad):
        return b'%b,"ad":%b}' % (head, orjson.dumps(target._asdict()))
    return b'%b,"account":%b}' % (head, viewed.hydrated.accounts[target])


def _present_post(post_id: PostId, slot_id: PostId, viewed: ViewedPosts) -> bytes:
    shown, flags = viewed.hydrated, viewed.flags.get(post_id, 0)
    account, counts = shown.accounts[post_id.author_id], shown.counts.get(post_id, NO_COUNTS)
    if flags >= LEAST_FLAG:
        counts, flags = with_own_reactions(counts, flags)
    status = present_status(shown.fragments[post_id], account, counts, flags)
    original = post_id.author_id, post_id.moment
    row = PostRow(slot_id.author_id, slot_id.moment, "", False, "", None, Kind.REPOST, *original)
    return viewed.filters.apply(present_repost(encode_post(row), account, status, counts, flags))
