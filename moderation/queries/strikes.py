"""What was done to one account, as it may see it."""

from infra.api.errors import InvalidCursor
from infra.api.pages import Page, Window
from infra.sharding.placement import GLOBAL_ALIAS
from moderation.models import Appeal, Decision
from moderation.types import STRIKES

LONGEST_ID = 18
Strike = tuple[Decision, Appeal | None]


def list_strikes(account_id: int, window: Window) -> Page[Strike]:
    """The latest first. Raises: InvalidCursor. Cost: one query by key, one for appeals."""
    acts = Decision.objects.using(GLOBAL_ALIAS).filter(account_id=account_id, act__in=STRIKES)
    if window.max_id:
        acts = acts.filter(pk__lt=_decode(window.max_id))
    if above := window.min_id or window.since_id:
        acts = acts.filter(pk__gt=_decode(above))
    is_upwards = window.min_id is not None
    rows = list(acts.order_by("id" if is_upwards else "-id")[: window.limit + 1])
    has_older = is_upwards or len(rows) > window.limit
    kept = rows[: window.limit][::-1] if is_upwards else rows[: window.limit]
    appeals = {one.act_id: one for one in Appeal.objects.filter(act__in=kept)}
    if not kept:
        return Page([], None, None)
    older = str(kept[-1].pk) if has_older else None
    return Page([(act, appeals.get(act.pk)) for act in kept], older, str(kept[0].pk))


def _decode(cursor: str) -> int:
    if not cursor.isascii() or not cursor.isdigit() or len(cursor) > LONGEST_ID:
        raise InvalidCursor
    return int(cursor)
