"""Deletes the data of accounts that were suspended long ago.

The job calls the same actions as the API, so counts, caches and timelines follow as always. It sets
PURGING on the account first. So a half-deleted account cannot be restored, and the next run finds
the account again if this run dies.

The tables of an account's rows besides relations, and the action that ends a row of each.
"""

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from functools import partial
from typing import NamedTuple

import msgspec
from django.db import transaction

from accounts.actions.lock_user import lock_user
from accounts.actions.restrict import restrict_user
from accounts.actions.update_profile import update_profile
from accounts.images.actions.use_image import end_image
from accounts.images.sql import KEPT_IMAGES
from accounts.queries.profiles import find_profile
from accounts.second_step.actions import delete_second_step
from accounts.sql import ACCOUNTS_TO_PURGE
from accounts.types import NO_PICTURE, ProfileEdit, Restriction, ServiceObject
from infra.changes.failpoints import failpoint
from infra.jobs.types import Batch, Work
from infra.jobs.walk import Key, Row, Table, walk, walk_table
from infra.sharding.placement import GLOBAL_ALIAS
from infra.sharding.shards import shard_aliases
from infra.sharding.sql import fetch_all
from moderation.actions.decide import decide_on_account
from moderation.errors import NotSuspended, SuspensionEnds
from moderation.types import DecisionKind, DecisionOrigin
from notifications.actions.dismiss import (
    delete_inbox,
    delete_notification,
    delete_permission,
)
from notifications.push.rows import delete_subscriptions
from notifications.push.sql import SUBSCRIPTIONS
from notifications.sql import INBOXES, NOTIFICATIONS, PERMISSIONS
from posts.actions.delete_post import delete_post
from posts.actions.mark_post import mark_post
from posts.actions.vote import delete_voters
from posts.conversations.actions.edit_conversation import delete_conversation, forget_direct_post
from posts.conversations.sql import CONVERSATIONS, DIRECT_POSTS
from posts.errors import PostNotFound
from posts.filters.actions.edit_filters import remove_filter
from posts.filters.errors import FilterNotFound
from posts.filters.sql import FILTERS
from posts.ids import PostId
from posts.scheduled.actions.schedule import cancel_scheduled, forget_published
from posts.scheduled.errors import ScheduledPostNotFound
from posts.scheduled.sql import SCHEDULED_POSTS
from posts.sql import LIVE_POSTS, VIEWER_MARKS
from posts.types import Kind
from relations.actions.mute import unmute
from relations.actions.write_note import write_note
from relations.jobs.reset_relations import reset_relations
from relations.lists.actions.lists import delete_account_list
from relations.lists.errors import ListNotFound
from relations.lists.sql import ACCOUNT_LISTS
from relations.sql import ACTIVE_MUTES, NOTES
from relations.suggestions.actions.dismiss import forget_dismissed
from relations.suggestions.sql import DISMISSED
from timelines.markers.rows import MARKERS, delete_marker
from timelines.promotions.actions.hide import forget_hidden_campaign
from timelines.promotions.sql import HIDDEN_CAMPAIGNS
from timelines.tags.actions.own_tags import forget_tag_settings, remove_own_tag
from timelines.tags.sql import ACCOUNT_TAGS, TAG_SETTINGS
from timelines.tags.types import TagListKind


class OwnedRows(NamedTuple):
    """Rows of one table. `end` deletes or ends one row; it is idempotent."""

    table: Table
    end: Callable[[Row], object]


def _delete_post(row: Row) -> None:
    try:
        delete_post(PostId.at(*row))
    except PostNotFound:
        return  # deleted by its author or another run in the meantime


def _end_viewer_mark(row: Row) -> None:
    owner_id, moment, author_id, kind = row
    mark_post(owner_id, PostId.at(author_id, moment), Kind(kind), False)


def _end_mute(row: Row) -> None:
    owner_id, _kind, target_id = row
    unmute(owner_id, target_id)


def _delete_note(row: Row) -> None:
    owner_id, target_id = row
    write_note(owner_id, target_id, "")


def _delete_list(row: Row) -> None:
    try:
        delete_account_list(*row)
    except ListNotFound:
        return


def _remove_filter(row: Row) -> None:
    try:
        remove_filter(*row)
    except FilterNotFound:
        return


def _cancel_scheduled(row: Row) -> None:
    try:
        cancel_scheduled(*row)
    except ScheduledPostNotFound:
        forget_published(*row)


TABLES = (
    OwnedRows(KEPT_IMAGES, lambda row: end_image(*row)),
    OwnedRows(FILTERS, _remove_filter),
    OwnedRows(SCHEDULED_POSTS, _cancel_scheduled),
    OwnedRows(LIVE_POSTS, _delete_post),
    OwnedRows(VIEWER_MARKS, _end_viewer_mark),
    OwnedRows(CONVERSATIONS, lambda row: delete_conversation(*row)),
    OwnedRows(DIRECT_POSTS, lambda row: forget_direct_post(*row)),
    OwnedRows(ACTIVE_MUTES, _end_mute),
    OwnedRows(NOTES, _delete_note),
    OwnedRows(ACCOUNT_LISTS, _delete_list),
    OwnedRows(MARKERS, lambda row: delete_marker(*row)),
    OwnedRows(NOTIFICATIONS, lambda row: delete_notification(*row)),
    OwnedRows(PERMISSIONS, lambda row: delete_permission(*row)),
    OwnedRows(SUBSCRIPTIONS, lambda row: delete_subscriptions(row[0], [row[1]])),
    OwnedRows(INBOXES, lambda row: delete_inbox(*row)),
    OwnedRows(DISMISSED, lambda row: forget_dismissed(*row)),
    OwnedRows(ACCOUNT_TAGS, lambda row: remove_own_tag(row[0], TagListKind(row[1]), row[2])),
    OwnedRows(TAG_SETTINGS, lambda row: forget_tag_settings(*row)),
    OwnedRows(HIDDEN_CAMPAIGNS, lambda row: forget_hidden_campaign(*row)),
)


def _end_all(owned: OwnedRows, work: Work) -> Iterator[Batch]:
    for piece in walk_table(work, owned.table):
        if not work.dry_run:
            for row in piece.rows:
                owned.end(row)
        lines = [f"{owned.table.name} {'/'.join(map(str, row))}" for row in piece.rows]
        yield Batch(len(piece.rows), 0, piece.alias, len(piece.rows), None, lines)


def _forget_votes(work: Work) -> Iterator[Batch]:
    """Forgets how the account voted on polls of others. The votes still count."""
    if work.dry_run or work.account_id is None:
        return
    for alias in shard_aliases():
        if count := delete_voters(alias, work.account_id):
            yield Batch(count, 0, alias, count, None, [f"{count} votes on {alias}"])


PASSES: tuple[Callable[[Work], Iterator[Batch]], ...] = (
    *(partial(_end_all, owned) for owned in TABLES),
    _forget_votes,
)

NO_DETAILS = ProfileEdit(display_name="", note="", fields=(), avatar=NO_PICTURE, header=NO_PICTURE)


def purge_accounts(
    work: Work, before: datetime, origin: DecisionOrigin, now: datetime
) -> Iterator[Batch]:
    """Purges the accounts that were suspended before `before`.

    Yields a batch for each batch of rows, and one for each finished account. Safety: idempotent;
    after a crash the next run finds the account and the rest of its rows. Cost: one transaction for
    each post, edge and viewer mark.
    """
    passes: Sequence[Callable[[Work], Iterator[Batch]]] = (*PASSES, reset_relations)
    for piece in walk(work._replace(limit=None), partial(_read_due, work.account_id, before)):
        for (account_id,) in piece.rows:
            if not work.dry_run and not _begin(account_id, origin, now):
                continue
            own = Work([piece.alias], account_id, None, work.batch_size, dry_run=work.dry_run)
            for run_pass in passes:
                # No checkpoint inside an account: a second run does not find deleted rows again.
                yield from (batch._replace(position=None) for batch in run_pass(own))
            failpoint("moderation.before_purged")
            if not work.dry_run:
                _finish(account_id, now)
            position = {"alias": piece.alias, "key": [account_id]}
            yield Batch(1, 0, piece.alias, 1, position, [f"account {account_id}"])


def _read_due(
    account_id: int | None, before: datetime, alias: str, after: Key | None, count: int
) -> list[Row]:
    params = {"account": account_id, "before": before, "after": after and after[0], "count": count}
    return fetch_all(alias, ACCOUNTS_TO_PURGE, params)


def _begin(account_id: int, origin: DecisionOrigin, now: datetime) -> bool:
    """Sets PURGING. False: a moderator restored the account, or its suspension has an end."""
    try:
        decide_on_account(account_id, DecisionKind.PURGE, origin, now)
    except (NotSuspended, SuspensionEnds):
        return False
    return True


def _finish(account_id: int, now: datetime) -> None:
    """Clears the profile and the login. The name and the id stay taken."""
    update_profile(account_id, _without_details(account_id))
    with transaction.atomic(using=GLOBAL_ALIAS):
        user = lock_user(account_id)
        user.email = user.language = ""
        user.set_unusable_password()
        delete_second_step(account_id)
        user.save(using=GLOBAL_ALIAS, update_fields=["email", "language", "password"])
        restrict_user(user, Restriction.SUSPENDED | Restriction.PURGED, now)


def _without_details(account_id: int) -> ProfileEdit:
    """Of a thing of a service, kind and external id stay: they name the account."""
    profile = find_profile(account_id)
    owned = None if profile is None else profile.service_object
    if owned is None:
        return NO_DETAILS
    bare = ServiceObject(owned.kind, owned.external_id, url="", image="", custom="{}")
    return msgspec.structs.replace(NO_DETAILS, service_object=bare)
