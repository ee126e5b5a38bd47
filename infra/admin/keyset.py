"""Lists in the admin that go by key, the newest or the oldest first, and never count or skip rows.

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

AFTER = "after"
LONGEST_ID = 18
NO_ACTION = (("", "Choose an action"),)


class KeysetChangeList(ChangeList):
    """One page: the rows after a primary key in the order of the list."""

    model_admin: "KeysetAdmin"
    further_query: str | None = None

    def get_filters_params(self, params: Any = None) -> dict[str, Any]:
        """Raises: IncorrectLookupParameters for a NUL, which no column of PostgreSQL can have."""
        filters: dict[str, Any] = super().get_filters_params(params)
        if any("\0" in str(text) for texts in filters.values() for text in texts):
            raise IncorrectLookupParameters
        self._after = filters.pop(AFTER, None)
        return filters

    def get_ordering(self, request: HttpRequest, queryset: Any) -> list[Any]:
        return ["pk" if self.model_admin.is_oldest_first(request) else "-pk"]

    def get_results(self, request: HttpRequest) -> None:
        """One query, and those of `load_for`."""
        is_rising = self.model_admin.is_oldest_first(request)
        rows = list(self._part("pk__gt" if is_rising else "pk__lt")[: self.list_per_page + 1])
        shown = rows[: self.list_per_page]
        if len(rows) > len(shown):
            self.further_query = self.get_query_string({AFTER: shown[-1].pk})
        shown = self.model_admin.arrange(shown)
        self.model_admin.load_for(shown)
        self.result_list, self.result_count = shown, len(shown)
        self.full_result_count, self.show_full_result_count = len(shown), False
        self.show_admin_actions, self.can_show_all, self.multi_page = True, False, False
        self.paginator = Paginator(shown, max(1, len(shown)))

    def _part(self, lookup: str) -> Any:
        if self._after is None:
            return self.queryset
        after = str(self._after[0] if isinstance(self._after, list) else self._after)
        if not after.isascii() or not after.isdigit() or len(after) > LONGEST_ID:
            raise IncorrectLookupParameters
        return self.queryset.filter(**{lookup: int(after)})


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

    def render_change_form(
        self, request: HttpRequest, context: Any, *args: Any, **options: Any
    ) -> HttpResponse:
        """Its labels have no colon."""
        context["adminform"].form.label_suffix = ""
        return super().render_change_form(request, context, *args, **options)

    @admin.display(description="When")
    def created(self, row: Any) -> str:
        """For models with `created_at`."""
        return age(row.created_at)

    def is_oldest_first(self, _request: HttpRequest) -> bool:
        return False

    def arrange(self, rows: list[Any]) -> list[Any]:
        """The rows of a page in the order in which they are shown."""
        return rows

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
