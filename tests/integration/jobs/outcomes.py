"""Runs a command as `manage.py` would and keeps what came of it."""

from io import StringIO

from django.core.management import call_command

from infra.jobs.command import JobCommand
from infra.jobs.types import Batch


class Outcome:
    """`words` are the command line. An exit code of 0 is a command that returned."""

    def __init__(self, job, *words):
        job.stdout._out = out = StringIO()
        job.stderr._out = StringIO()
        self.job = job
        self.code = 0
        try:
            call_command(job, *words)
        except SystemExit as error:
            self.code = error.code
        finally:
            self.out = out.getvalue()


class StepsJob(JobCommand):
    """Yields what the test says; a callable is called in between."""

    def __init__(self, *steps):
        super().__init__()
        self.steps = steps
        self.taken = []
        self.works = []
        self.closed = False

    def is_by_database(self, options):
        """False: the steps are done once."""
        return False

    def iter_batches(self, work, options):
        self.works.append(work)
        try:
            for step in self.steps:
                self.taken.append(step)
                if callable(step):
                    step = step(self)
                if isinstance(step, Batch):
                    yield step
        finally:
            self.closed = True
