"""The reports that an account filed, as it reads them itself."""

from infra.api.pages import Page
from infra.sharding.placement import GLOBAL_ALIAS
from moderation.models import Report
from moderation.queries.decisions import decode_cursor
from moderation.queries.history import with_names

MOST = 20


def list_own_reports(reporter_id: int, max_id: str = "") -> Page[Report]:
    """Newest first, with `account_name`. `max_id`: those before this one; empty: the newest.

    Raises: InvalidCursor. Cost: one query by index, of MOST + 1 rows.
    """
    rows = Report.objects.using(GLOBAL_ALIAS).filter(reporter_id=reporter_id)
    if max_id:
        rows = rows.filter(pk__lt=decode_cursor(max_id))
    reports = list(with_names(rows).order_by("-pk")[: MOST + 1])
    older = str(reports[MOST - 1].pk) if len(reports) > MOST else None
    return Page(reports[:MOST], older, None)
