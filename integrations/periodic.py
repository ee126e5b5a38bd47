"""The periodic tasks of integrations."""

from infra.jobs.periodic import PeriodicTask
from infra.sharding.placement import Placement
from integrations.brought_lists.actions import delete_old_files, do_brought_lines
from integrations.webhooks.sender import send_webhooks

PERIODIC_TASKS = (
    PeriodicTask(
        "send_webhooks",
        2,
        Placement.GLOBAL,
        "one statement; a thread for each webhook, which reads the change feed once a second",
        (
            "Gives each [webhook](../how-to/follow-changes.md#webhooks) without a sender to a "
            "thread, at most 16; more take turns of 30 s."
        ),
        send_webhooks,
    ),
    PeriodicTask(
        "do_brought_lines",
        2,
        Placement.SHARDED,
        "one query by index; while lines are left at most 1 s of them",
        (
            "Does the next lines of the [lists that people "
            "brought](../how-to/import-from-another-system.md#people-bring-their-lists)."
        ),
        do_brought_lines,
    ),
    PeriodicTask(
        "delete_old_files",
        600,
        Placement.SHARDED,
        "one statement by index",
        "Deletes the results of brought lists after 30 days.",
        delete_old_files,
    ),
)
