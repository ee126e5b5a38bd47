"""The action of lists that leads to the page for a decision on several at once."""

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.http import urlencode

from moderation.admin.page_context import DECIDE


class SeveralAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    """For lists of accounts or reports. `target`: their name in the address of that page."""

    target: ClassVar[str]
    actions: Sequence[str] = ("decide_on_several",)

    def has_decide_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm(DECIDE)

    @admin.action(description="Decide on them at once…", permissions=["decide"])
    def decide_on_several(self, request: HttpRequest, queryset: QuerySet[Any]) -> HttpResponse:
        """No write: the page shows first what will happen. With the reason of the list, if any."""
        chosen = queryset.values_list("pk", flat=True).order_by("pk")
        reason = request.POST.get("reason", "").strip()
        return HttpResponseRedirect(_address(self.target, chosen, reason))


def _address(target: str, ids: Iterable[int], reason: str) -> str:
    query: list[tuple[str, int | str]] = [(target, id_) for id_ in ids]
    query += [("reason", reason)] if reason else []
    return f"{reverse('decide_on_several')}?{urlencode(query)}"
