"""How far each resumable job has come."""

from django.db import models
from django.db.models.functions import Now

from infra.sharding.placement import Placement


class JobCheckpoint(models.Model):
    """GLOBAL, one row per job and scope that was interrupted or is done; written by infra.jobs."""

    placement = Placement.GLOBAL

    job = models.CharField(max_length=64)
    scope = models.CharField(max_length=200)
    position = models.JSONField()
    updated_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [models.UniqueConstraint(fields=["job", "scope"], name="checkpoint_of_job")]

    def __str__(self) -> str:
        return f"{self.job} {self.scope}"
