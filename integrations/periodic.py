"""The periodic task of integrations."""

from infra.jobs.periodic import PeriodicTask
from infra.sharding.placement import Placement
from integrations.webhooks.threads import send_webhooks

PERIODIC_TASKS = (
    PeriodicTask(
        "send_webhooks",
        2,
        Placement.GLOBAL,
        "one statement; a thread for each webhook, which reads the change feed once a second",
        send_webhooks,
    ),
)
