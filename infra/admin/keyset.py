"""Lists in the admin that go by key, the newest first, and never count or skip rows.

Django's own list counts all rows of a filter for each page, and reads those it skips.
"""

from collections.abc import Sequence
from typing import Any

from django.contrib import admin
from django.contrib.admin.options import IncorrectLookupParameters
from django.contrib.admin.views.main import ChangeList
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.utils.text import capfirst

from infra.admin.display import age

BELOW = "below"
LONGEST_ID = 18
NO_ACTION = (("", "Choose an action"),)


class KeysetChangeList(ChangeList):
    """One page: the rows below a primary key, the highest first."""

    model_admin: "KeysetAdmin"
    older_query: str | None = None

    def get_filters_params(self, params: Any = None) -> dict[str, Any]:
        """Raises: IncorrectLookupParameters for a NUL, which no column of PostgreSQL can have."""
        filters: dict[str, Any] = super().get_filters_params(params)
        if any("\0" in str(text) for texts in filters.values() for text in texts):
            raise IncorrectLookupParameters
        self._below = filters.pop(BELOW, None)
        return filters

    def get_ordering(self, request: HttpRequest, queryset: Any) -> list[Any]:
        return ["-pk"]

    def get_results(self, request: HttpRequest) -> None:
        """One query, and those of `load_for`."""
        rows = list(self._part()[: self.list_per_page + 1])
        shown = rows[: self.list_per_page]
        if len(rows) > len(shown):
            self.older_query = self.get_query_string({BELOW: shown[-1].pk})
        self.model_admin.load_for(shown)
        self.result_list, self.result_count = shown, len(shown)
        self.full_result_count, self.show_full_result_count = len(shown), False
        self.show_admin_actions, self.can_show_all, self.multi_page = True, False, False
        self.paginator = Paginator(shown, max(1, len(shown)))

    def _part(self) -> Any:
        if self._below is None:
            return self.queryset
        below = str(self._below[0] if isinstance(self._below, list) else self._below)
        if not below.isascii() or not below.isdigit() or len(below) > LONGEST_ID:
            raise IncorrectLookupParameters
        return self.queryset.filter(pk__lt=int(below))


class KeysetAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    """For models with a number as primary key. Filters and searches must go by an index.

    `list_title`: the name of the list; empty: the plural of the model's name. `empty_text`: for a
    list without rows.
    """

    view_on_site = False
    list_title = ""
    empty_text = "There is nothing here yet."
    empty_value_display = ""

    change_list_template = "keyset/change_list.html"
    show_full_result_count = False
    show_facets = admin.ShowFacets.NEVER
    sortable_by = ()
    list_per_page = 50

    def get_changelist(self, request: HttpRequest, **options: Any) -> type[ChangeList]:
        return KeysetChangeList

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        title = self.list_title or capfirst(str(self.opts.verbose_name_plural))
        return super().changelist_view(request, {"title": title, **(extra_context or {})})

    def get_action_choices(
        self, request: HttpRequest, default_choices: Any = NO_ACTION
    ) -> list[tuple[str, str]]:
        choices: list[tuple[str, str]] = super().get_action_choices(request, [*default_choices])
        return choices

    @admin.display(description="When")
    def created(self, row: Any) -> str:
        """For models with `created_at`."""
        return age(row.created_at)

    def load_for(self, rows: Sequence[Any]) -> None:
        """Called once with the rows of a page, for what the query of the list cannot join."""


class ReadOnlyKeysetAdmin(KeysetAdmin):
    """For rows that are to be read, and not to be made, changed or deleted here."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False
