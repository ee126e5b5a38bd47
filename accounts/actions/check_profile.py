"""What can be wrong with the text of a profile."""

from accounts.models import DISPLAY_NAME_LENGTH
from accounts.types import ProfileEdit
from infra.api.errors import Fault

NOTE_LENGTH = 500


def edit_faults(edit: ProfileEdit) -> list[Fault]:
    """Everything wrong with an edit."""
    note_faults = _length_faults("note", edit.note or "", NOTE_LENGTH)
    return [*display_name_faults(edit.display_name or ""), *note_faults]


def display_name_faults(text: str) -> list[Fault]:
    return _length_faults("display_name", text, DISPLAY_NAME_LENGTH)


def _length_faults(field: str, text: str, most: int) -> list[Fault]:
    if len(text) <= most:
        return []
    return [Fault(field, "ERR_TOO_LONG", f"is too long (maximum is {most} characters)")]
