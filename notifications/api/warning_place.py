"""The place of a moderators' decision in the JSON of its notification: the number of the decision.

Decisions are of a higher floor, and appeals change how they are shown. So moderation puts them into
the answer (moderation/api/live_warnings.py).
"""

import re

# Of a plane that has no characters, so that no other text has its first byte.
_MARK = "\U00040000"
# Text that people write has no unescaped quotes, so it cannot look like this.
PLACE = re.compile(rb'(?<="moderation_warning":)"%b(\d+)"' % _MARK.encode())
FIRST_BYTE = _MARK.encode()[:1]


def warning_field(decision_id: int) -> bytes:
    """The field of the JSON, to be filled."""
    return b'"moderation_warning":"%b%d"' % (_MARK.encode(), decision_id)
