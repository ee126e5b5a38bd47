"""Reads and writes checkpoints: where a job goes on after it was stopped or killed."""

from typing import Any

from django.db.models.functions import Now

from infra.jobs.models import JobCheckpoint


def find_checkpoint(job: str, scope: str) -> Any | None:
    """The last position kept, or None."""
    return (
        JobCheckpoint.objects.filter(job=job, scope=scope)
        .values_list("position", flat=True)
        .first()
    )


def keep_checkpoint(job: str, scope: str, position: Any) -> None:
    """Remembers a position. The work up to it must be committed already."""
    JobCheckpoint.objects.update_or_create(
        job=job, scope=scope, defaults={"position": position, "updated_at": Now()}
    )


def forget_checkpoint(job: str, scope: str) -> None:
    JobCheckpoint.objects.filter(job=job, scope=scope).delete()
