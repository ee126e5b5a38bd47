"""Writes operators' actions to the history of Django's admin."""

from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.contenttypes.models import ContentType
from django.db.models import Model
from django.http import HttpRequest

LONGEST_NAME = 200


def record_history(
    request: HttpRequest, model: type[Model], object_id: str, name: str, message: str
) -> None:
    """Writes one row: who did what, and when. One query, two for a process's first row."""
    LogEntry.objects.create(
        user_id=int(request.user.pk or 0),  # operator_page requires a signed-in user
        content_type_id=ContentType.objects.get_for_model(model).pk,
        object_id=object_id,
        object_repr=name[:LONGEST_NAME],
        action_flag=CHANGE,
        change_message=message,
    )
