"""The checkpoints of jobs, and the record of their runs."""

from django.db import models
from django.db.models.functions import Now

from infra.sharding.placement import Placement

# JobRun declares this permission of operators; it belongs to no single model.
OPERATE = "jobs.operate"


class JobCheckpoint(models.Model):
    """GLOBAL, one row for each job and scope that did not finish. Written by infra.jobs."""

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
    """GLOBAL, one row a run, kept for KEEP_DAYS. Written by infra.jobs.runs only.

    The session of a run holds the advisory lock hashtextextended('job run ' || id, 0). A row in
    state RUNNING without that lock belongs to a process that died; the next run marks it.
    """

    class State(models.TextChoices):
        RUNNING = "running"
        DONE = "done"
        FAILED = "failed"  # some rows failed, or the job raised `error`
        STOPPED = "stopped"
        DIED = "died"

    placement = Placement.GLOBAL

    job = models.CharField(max_length=64)
    flags = models.TextField()
    dry_run = models.BooleanField()
    state = models.CharField(max_length=16, choices=State, default=State.RUNNING)
    started_at = models.DateTimeField(db_default=Now())
    # The last report. For a run that died, also its end.
    reported_at = models.DateTimeField(db_default=Now())
    finished_at = models.DateTimeField(null=True)
    done = models.BigIntegerField(default=0, db_default=0)
    failed = models.BigIntegerField(default=0, db_default=0)
    changed = models.BigIntegerField(null=True)  # NULL: the job cannot tell
    host = models.TextField()
    pid = models.IntegerField()
    error = models.TextField(default="", db_default="")

    class Meta:
        # This permission opens the operators' pages. It belongs to no single model.
        permissions = [("operate", "Can see and use the pages of operators")]
        indexes = [
            # mark_died_runs
            models.Index(fields=["id"], name="jobrun_running", condition=models.Q(state="running")),
            # The deletion of old runs, and the list of the latest.
            models.Index(fields=["started_at"], name="jobrun_started"),
        ]

    def __str__(self) -> str:
        return f"{self.job} {self.flags} {self.state}"
