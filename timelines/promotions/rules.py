"""May the viewer be shown what is promoted? Pure."""

from posts.ids import PostId
from posts.queries.statuses import ViewedPosts
from relations.types import UNRELATED
from timelines.promotions.types import Ad, RunningCampaign


def may_show(campaign: RunningCampaign, view: ViewedPosts, now_ms: int) -> bool:
    """It exists, and is of nobody whom the viewer mutes or blocks, or who blocks the viewer.

    Somebody whom the viewer follows is not suggested.
    """
    target = campaign.target
    if isinstance(target, Ad):
        return True
    account_id = campaign.account_id or 0
    relationship = view.relationships.get(account_id, UNRELATED)
    if relationship.is_blocked or relationship.is_muted_at(now_ms):
        return False
    if isinstance(target, PostId):
        return view.hydrated.shows(target, target)
    return account_id in view.hydrated.accounts and not relationship.is_followed
