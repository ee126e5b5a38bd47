"""Every periodic task of the product, in the order in which the compensator runs them.

A task of a new app comes in here.
"""

from accounts import periodic as accounts
from counters import periodic as counters
from infra.changes import periodic as changes
from infra.jobs.periodic import PeriodicTask
from integrations import periodic as integrations
from moderation import periodic as moderation
from notifications import periodic as notifications
from operations import periodic as operations
from operations.moves import periodic as moves
from posts import periodic as posts
from timelines import periodic as timelines

PERIODIC_TASKS: tuple[PeriodicTask, ...] = (
    *changes.PERIODIC_TASKS,
    *counters.PERIODIC_TASKS,
    *accounts.PERIODIC_TASKS,
    *posts.PERIODIC_TASKS,
    *timelines.PERIODIC_TASKS,
    *notifications.PERIODIC_TASKS,
    *moderation.PERIODIC_TASKS,
    *integrations.PERIODIC_TASKS,
    *operations.PERIODIC_TASKS,
    *moves.PERIODIC_TASKS,
)
