"""What the queues of reports and appeals share: rows are read, and decided on by actions.

The action of lists that leads to the page for a decision on several at once.

What a moderator reads when a decision is not taken: the refusal, or that a database is away.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.http import urlencode

from accounts.site_texts.queries import get_site_description
from infra.admin.keyset import KeysetAdmin
from infra.admin.reasons import ReasonForm, ReasonRequiredAdmin
from infra.api.errors import TidelineError
from infra.changes.errors import UNREACHABLE
from infra.sharding.probe import error_line
from moderation.admin.page_context import DECIDE
from moderation.types import DecisionOrigin


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


REFUSED = (TidelineError, *UNREACHABLE)


def words_of(error: Exception) -> str:
    """`error`: one of REFUSED. A decision is one transaction, so nothing of it is done."""
    if isinstance(error, TidelineError):
        return str(error)
    return f"A database does not answer, so nothing is done. Try again later. {error_line(error)}"


class SuggestedReasonForm(ReasonForm):
    """The list on the page suggests the reasons that operators wrote."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.fields["reason"].widget.attrs["list"] = "mod-reasons"


class QueueAdmin(KeysetAdmin, ReasonRequiredAdmin):
    """A queue that moderators work through. Rows cannot be entered, edited or deleted by hand."""

    fields: ClassVar[tuple[str, ...]] = ()
    action_form = SuggestedReasonForm
    change_list_template = "moderation/queue.html"

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        reasons = {"reasons": get_site_description().reasons}
        return super().changelist_view(request, {**reasons, **(extra_context or {})})

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return self.fields

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None
    ) -> Any:
        """Hides the save buttons, because no field can be edited."""
        hidden = ("show_save", "show_save_and_continue", "show_save_and_add_another")
        context = {**dict.fromkeys(hidden, False), **(extra_context or {})}
        return super().change_view(request, object_id, form_url, context)

    def decide_each(
        self,
        request: HttpRequest,
        rows: QuerySet[Any],
        decide: Callable[[Any, DecisionOrigin], object],
    ) -> None:
        """Takes one decision for each row, with the reason in the request; shows the refusals.

        A shard that is away keeps no other row from its decision.
        """
        if not (reason := self.reason_of(request)):
            return
        origin = DecisionOrigin(request.user.pk, reason)
        for row in rows:
            try:
                decide(row, origin)
            except REFUSED as error:
                self.message_user(request, f"{row}: {words_of(error)}", messages.ERROR)
