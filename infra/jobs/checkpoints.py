"""Reads and writes checkpoints: the position from which a stopped or killed job continues."""

from typing import Any, NamedTuple

from django.db.models.functions import Now

from infra.jobs.models import JobCheckpoint


def find_checkpoint(job: str, scope: str) -> Any | None:
    """The last saved position, or None."""
    return (
        JobCheckpoint.objects.filter(job=job, scope=scope)
        .values_list("position", flat=True)
        .first()
    )


def save_checkpoint(job: str, scope: str, position: Any) -> None:
    """Saves a position. The work up to it must be committed already."""
    JobCheckpoint.objects.update_or_create(
        job=job, scope=scope, defaults={"position": position, "updated_at": Now()}
    )


def delete_checkpoint(job: str, scope: str) -> None:
    JobCheckpoint.objects.filter(job=job, scope=scope).delete()


class CheckpointValue(NamedTuple):
    """The position and the rows of all runs of a job with one scope, up to now."""

    position: Any = None
    rows: int = 0


class Checkpoint:
    """The checkpoint of one job and one combination of its flags."""

    def __init__(self, job: str, scope: str) -> None:
        self._key = (job, scope)

    def find(self) -> CheckpointValue:
        checkpoint = find_checkpoint(*self._key)
        return CheckpointValue(**checkpoint) if checkpoint else CheckpointValue()

    def save(self, value: CheckpointValue) -> None:
        save_checkpoint(*self._key, value._asdict())

    def delete(self) -> None:
        delete_checkpoint(*self._key)
