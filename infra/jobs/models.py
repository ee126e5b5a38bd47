"""How far each resumable job has come, and what has run, by whom started and how it ended."""

from django.db import models
from django.db.models.functions import Now

from infra.sharding.placement import Placement


class JobCheckpoint(models.Model):
    """GLOBAL, one row per job and scope that was interrupted or is done; written by infra.jobs."""

    placement = Placement.GLOBAL

    job = models.CharField(max_length=64)
    scope = models.TextField()
    position = models.JSONField()
    updated_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [models.UniqueConstraint(fields=["job", "scope"], name="checkpoint_of_job")]

    def __str__(self) -> str:
        return f"{self.job} {self.scope}"


class JobRun(models.Model):
    """GLOBAL, one row a run, kept for KEEP_DAYS (infra.jobs.runs, which alone writes here).

    While it runs its session holds the advisory lock hashtextextended('job run ' || id, 0). A row
    that says RUNNING and has no such lock is of a process that died; the next run says so.
    """

    class State(models.TextChoices):
        RUNNING = "running"
        DONE = "done"
        FAILED = "failed"  # rows failed, or the job did: then `error` says why
        STOPPED = "stopped"
        DIED = "died"

    placement = Placement.GLOBAL

    job = models.CharField(max_length=64)
    flags = models.TextField()
    dry_run = models.BooleanField()
    state = models.CharField(max_length=16, choices=State, default=State.RUNNING)
    started_at = models.DateTimeField(db_default=Now())
    # The last sign of life; of a run that died, also its end.
    reported_at = models.DateTimeField(db_default=Now())
    finished_at = models.DateTimeField(null=True)
    done = models.BigIntegerField(default=0, db_default=0)
    failed = models.BigIntegerField(default=0, db_default=0)
    changed = models.BigIntegerField(null=True)  # the job cannot tell
    host = models.TextField()
    pid = models.IntegerField()
    error = models.TextField(default="", db_default="")

    class Meta:
        # Of no model in particular: whoever has it may open the pages of operators.
        permissions = [("operate", "Can see and use the pages of operators")]
        indexes = [
            # marking those that died
            models.Index(fields=["id"], name="jobrun_running", condition=models.Q(state="running")),
            # deleting the old ones, showing the latest
            models.Index(fields=["started_at"], name="jobrun_started"),
        ]

    def __str__(self) -> str:
        return f"{self.job} {self.flags} {self.state}"
