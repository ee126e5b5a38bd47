"""What the queues of reports and appeals share: rows are read, and decided on by actions."""

from collections.abc import Callable
from typing import Any, ClassVar

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpRequest

from infra.admin.keyset import KeysetAdmin
from infra.admin.reasons import ReasonRequiredAdmin
from infra.api.errors import TidelineError
from moderation.types import DecisionOrigin


class QueueAdmin(KeysetAdmin, ReasonRequiredAdmin):
    """A queue that moderators work through. Rows cannot be entered, edited or deleted by hand."""

    fields: ClassVar[tuple[str, ...]] = ()

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
        """Takes one decision for each row, with the reason in the request; shows the refusals."""
        if not (reason := self.reason_of(request)):
            return
        origin = DecisionOrigin(request.user.pk, reason)
        for row in rows:
            try:
                decide(row, origin)
            except TidelineError as error:
                self.message_user(request, f"{row}: {error}", messages.ERROR)
