"""A reader's home timeline: stored, computed, the difference, and a button that repairs it.

Repairs one reader's home timeline. rebuild timelines does the same for all readers.
"""

from datetime import UTC, datetime

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from accounts.models import User
from infra.changes.errors import UNREACHABLE
from infra.sharding.probe import error_line
from operations.admin_history import record_history
from operations.queries.home import page_of_lines, read_home
from operations.site import page_context
from posts.ids import EPOCH, MalformedPostId, PostId
from timelines.actions.repair_timeline import describe_repair, repair_timeline
from timelines.queries.difference import find_difference
from timelines.stores.factory import timeline_store
from timelines.types import LiveTimeline

NOT_LIVE = "Nothing is stored. The reader's next page builds the timeline."
CHANGING = "The timeline is changing now. Try again in a second."
RIGHT = "Nothing to repair: the timeline agrees with the posts."


def repair_home(reader_id: int) -> list[str]:
    """Adds missing entries and removes dead ones. Returns a line per entry, or why it did nothing.

    Safety: writes may go on at the same time. Raises: the errors in UNREACHABLE.
    Cost: as `find_difference` and `repair_timeline`.
    """
    stored = timeline_store().peek([reader_id]).get(reader_id)
    if stored is None:
        return [NOT_LIVE]
    difference = find_difference(reader_id, stored)
    if difference is None:
        return [CHANGING]
    if not difference:
        return [RIGHT]
    repair_timeline(reader_id, difference)
    return describe_repair(reader_id, difference)


MAX_MESSAGES = 20


@require_safe
def show_home(request: HttpRequest, account_id: int) -> HttpResponse:
    user = User.objects.filter(pk=account_id).first()
    if user is None:
        title = f"There is no account {account_id}"
        return render(request, "operations/facts.html", page_context(request, title), status=404)
    home = read_home(account_id)
    lines, older = page_of_lines(home.lines, _below(request))
    context = {
        "account_id": account_id,
        "home": home,
        "lines": lines,
        "older": older,
        "marks": [_complete_from(home.stored), _complete_from(home.computed)],
    }
    title = f"Home timeline of {account_id} · @{user.username}"
    return render(request, "operations/home.html", page_context(request, title) | context)


@require_POST
def rebuild_home(request: HttpRequest, account_id: int) -> HttpResponse:
    try:
        lines = repair_home(account_id)
    except UNREACHABLE as error:
        messages.error(request, f"Not completed: {error_line(error)}. Try again.")
    else:
        record_history(request, User, str(account_id), f"Home timeline of {account_id}", "Rebuilt")
        for line in lines[:MAX_MESSAGES]:
            messages.info(request, line)
        if len(lines) > MAX_MESSAGES:
            messages.info(request, f"and {len(lines) - MAX_MESSAGES} more")
    return redirect("home_timeline", account_id=account_id)


def _below(request: HttpRequest) -> PostId | None:
    """The cursor of the page. None for the first page; also, with a message, for a bad cursor."""
    text = request.GET.get("below", "")
    if not text:
        return None
    try:
        return PostId.from_cursor(text)
    except MalformedPostId:
        messages.error(request, "No page begins there. This is the first page.")
        return None


def _complete_from(timeline: LiveTimeline | None) -> datetime | None:
    """The time from which on the timeline is complete."""
    if timeline is None:
        return None
    return datetime.fromtimestamp(EPOCH + timeline.complete_from, UTC)
