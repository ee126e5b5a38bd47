"""What the queues of reports and appeals share: rows are read, and decided on by actions."""

from collections.abc import Callable
from typing import Any, ClassVar

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse

from accounts.site_texts.queries.site_description import get_site_description
from infra.admin.keyset import KeysetAdmin
from infra.admin.reasons import ReasonForm, ReasonRequiredAdmin
from moderation.admin.refusals import REFUSED, words_of
from moderation.types import DecisionOrigin


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
