"""Puts moderators' decisions into notifications, which have only their places (warning_place.py).

So the list always has the appeal as it is now, and pages without a warning pay nothing.
"""

from accounts.queries.load import get_account_json
from moderation.api.present import present_warning
from moderation.queries.decisions import load_strikes
from notifications.api.warning_place import PLACE


def fill_warnings(body: bytes, viewer_id: int | None) -> bytes:
    """The answer with its decisions; the same bytes without any.

    Only those on the viewer's account are shown. Cost: one query by key on the default database,
    and one account.
    """
    ids = {int(text) for text in PLACE.findall(body)}
    if not ids or viewer_id is None:
        return body
    account, strikes = get_account_json(viewer_id), load_strikes(viewer_id, ids)
    warnings = {pk: present_warning(*strike, account) for pk, strike in strikes.items()}
    return PLACE.sub(lambda match: warnings.get(int(match[1]), b"null"), body)
