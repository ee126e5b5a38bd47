"""The admin's list of job runs."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse

from infra.admin.keyset import ReadOnlyKeysetAdmin
from infra.jobs.models import JobRun
from infra.jobs.runs import mark_died_runs


@admin.register(JobRun)
class JobRunAdmin(ReadOnlyKeysetAdmin):
    """Runs of half a year. The runs write their own rows."""

    list_display = (
        *("id", "job", "flags", "dry_run", "state", "started_at", "finished_at"),
        *("done", "failed", "changed", "host"),
    )
    list_filter = ("state",)
    search_fields = ("job__exact",)
    search_help_text = "By the whole name of the command"

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        """First marks the runs whose process is gone as died. One more query."""
        mark_died_runs()
        return super().changelist_view(request, extra_context)

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[JobRun], search_term: str
    ) -> tuple[QuerySet[JobRun], bool]:
        """The words of a name belong together."""
        job = " ".join(search_term.split())
        return (queryset.filter(job=job) if job else queryset), False
