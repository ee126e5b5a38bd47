"""Decides on an image: one transaction on the default database, with reason and actor."""

from django.db import transaction

from accounts.actions.lock_user import lock_user
from accounts.images.errors import ImageNotFound
from accounts.images.queries.image_lists import find_image
from infra.changes.append import append_change
from infra.sharding.placement import GLOBAL_ALIAS
from moderation.actions.decide import check_actor, record_decision
from moderation.changes import ImageDecided
from moderation.models import Decision
from moderation.queries.decisions import load_last_image_decisions
from moderation.types import DecisionKind, DecisionOrigin


def decide_on_image(
    owner_id: int, image_id: int, kind: DecisionKind, origin: DecisionOrigin
) -> Decision | None:
    """Hides an image or shows it again. Returns None if the decision changes nothing.

    It is in force as a decision on a post is. Raises: ImageNotFound, AccountNotFound,
    DecisionNeedsReason, CannotModerateStaff. Cost: seven statements, and those of hide_image.
    """
    if find_image(owner_id, image_id) is None:
        raise ImageNotFound
    with transaction.atomic(using=GLOBAL_ALIAS):
        check_actor(lock_user(owner_id), origin)
        last = load_last_image_decisions([image_id]).get(image_id)
        current = DecisionKind(last.kind) if last else DecisionKind.SHOW
        if current == kind:
            return None
        decision = record_decision(kind, origin, owner_id, image_id=image_id)
        append_change(GLOBAL_ALIAS, owner_id, ImageDecided(image_id))
    return decision
