"""Django's registration of infra.sharding; installs the guard on every connection."""

from django.apps import AppConfig
from django.conf import settings
from django.core.signals import request_finished, request_started
from django.db import close_old_connections, reset_queries
from django.db.backends.signals import connection_created

from infra.sharding.guard import install_guard


class ShardingConfig(AppConfig):
    name = "infra.sharding"
    label = "sharding"

    def ready(self) -> None:
        connection_created.connect(install_guard, dispatch_uid="infra.sharding.guard")
        # Connections are kept for good (CONN_MAX_AGE); broken ones are dropped when a request
        # starts. Looking again when it ends, and emptying the query log that only DEBUG fills,
        # costs 8 µs each per shard and finds nothing more.
        request_finished.disconnect(close_old_connections)
        if not settings.DEBUG:
            request_started.disconnect(reset_queries)
