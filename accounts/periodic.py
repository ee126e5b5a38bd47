"""Periodic tasks of accounts: expired sessions, codes and tokens, and what nothing uses, go.

The compensator runs them, some rows at a time. Retention times: docs/reference/retention.md.
"""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import structlog
from axes.models import AccessAttempt
from django.conf import settings
from django.contrib.sessions.models import Session
from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet
from oauth2_provider.models import get_grant_model

from accounts.images.jobs import BATCH_SIZE, remove_unused_images
from accounts.models import AccessToken, Application, RefreshToken
from infra.jobs.periodic import PeriodicTask
from infra.jobs.time_slices import SlicedJob
from infra.jobs.types import Batch, Work
from infra.sharding.placement import GLOBAL_ALIAS, Placement

# Rows of each table per run: 72,000 a day.
A_TURN = 500
# After this time a stolen refresh token looks like a mistyped one.
REVOKED_FOR = timedelta(days=400)
UNUSED_FOR = timedelta(days=30)
log = structlog.get_logger()


def delete_expired_sign_ins(_alias: str) -> None:
    delete_expired(datetime.now(UTC))


def delete_expired(now: datetime, limit: int = A_TURN) -> dict[str, int]:
    """Deletes expired rows, at most `limit` of each table; returns how many, by table.

    Safety: several may run at the same time. An application that gets its first token in between
    stays.
    """
    deleted = {}
    for rows in _expired(now):
        with transaction.atomic(using=GLOBAL_ALIAS):
            # The lock keeps new tokens out; the second query sees tokens from before the lock.
            locked = rows.order_by("pk").select_for_update(skip_locked=True, of=("self",))
            keys = list(locked.values_list("pk", flat=True)[:limit])
            expired = [row.pk for row in rows.filter(pk__in=keys)]
            rows.model._default_manager.filter(pk__in=expired).delete()
        deleted[rows.model._meta.model_name or ""] = len(expired)
    if any(deleted.values()):
        log.info("retention.sign_ins_deleted", **deleted)
    return deleted


def _expired(now: datetime) -> Iterator[QuerySet[Any]]:
    yield Session.objects.filter(expire_date__lt=now)
    yield AccessAttempt.objects.filter(attempt_time__lt=now - settings.AXES_COOLOFF_TIME)
    yield get_grant_model().objects.filter(expires__lt=now)
    yield RefreshToken.objects.filter(revoked__lt=now - REVOKED_FOR)
    # An access token with a refresh token stays: the refresh token needs it.
    yield _without(AccessToken.objects.filter(expires__lt=now), RefreshToken, "access_token")
    yield _unused_applications(now)


def _unused_applications(now: datetime) -> QuerySet[Any]:
    """Applications without tokens, quota or owner: any client may register one and never use it.

    A service stays: it gets its next token with its secret.
    """
    rows = Application.objects.filter(created__lt=now - UNUSED_FOR, quota=None, user=None)
    rows = rows.exclude(authorization_grant_type=Application.GRANT_CLIENT_CREDENTIALS)
    for model in (AccessToken, RefreshToken, get_grant_model()):
        rows = _without(rows, model, "application")
    return rows


def _without(rows: QuerySet[Any], model: Any, field: str) -> QuerySet[Any]:
    return rows.exclude(Exists(model.objects.filter(**{field: OuterRef("pk")})))


def _remove_images(work: Work) -> Iterator[Batch]:
    return remove_unused_images(work, datetime.now(UTC))


PERIODIC_TASKS = (
    # A complete pass is valid for no time: deleted posts come at any moment.
    SlicedJob(
        "purge unused-images",
        "Deletes images that no post and no profile uses: files, then rows.",
        _remove_images,
        BATCH_SIZE,
        timedelta(0),
    ).as_periodic_task(),
    PeriodicTask(
        "delete_expired_sign_ins",
        600,
        Placement.GLOBAL,
        "two short statements for each of six tables",
        "Deletes sessions, codes, tokens and applications past use, at most 500 of each.",
        delete_expired_sign_ins,
    ),
)
