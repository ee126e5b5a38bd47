"""Stores the language that a person chose."""

from accounts.models import User
from infra.languages import is_language


def choose_language(account_id: int, language: str) -> None:
    """For pages, mails and messages from now on. Empty: that of the browser; what is no language of
    ours is the same. One statement of the default database; may run twice."""
    known = language if is_language(language) else ""
    User.objects.filter(pk=account_id).update(language=known)
