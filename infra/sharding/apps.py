"""Django's registration of infra.sharding. It installs the guard on every new connection."""

from importlib import import_module

from django.apps import AppConfig
from django.conf import settings
from django.core.signals import request_finished, request_started
from django.db import close_old_connections, reset_queries
from django.db.backends.signals import connection_created

from infra.sharding.connection_health import (
    drop_broken_connections,
    give_back_connections,
    remember_connection,
)
from infra.sharding.router import install_guard


class ShardingConfig(AppConfig):
    name = "infra.sharding"
    label = "sharding"

    def ready(self) -> None:
        connection_created.connect(install_guard, dispatch_uid="infra.sharding.router")
        connection_created.connect(remember_connection, dispatch_uid="infra.sharding.remember")
        refuse_wrong_database = import_module("infra.sharding.identity").refuse_wrong_database
        connection_created.connect(refuse_wrong_database, dispatch_uid="infra.sharding.identity")
        guard_pooled = import_module("infra.sharding.pooled.use").guard_pooled_connection
        connection_created.connect(guard_pooled, dispatch_uid="infra.sharding.pooled")
        # Django checks all databases three times a request. We check only this thread's open ones.
        request_finished.disconnect(close_old_connections)
        request_started.disconnect(close_old_connections)
        request_started.connect(drop_broken_connections, dispatch_uid="infra.sharding.drop")
        request_finished.connect(give_back_connections, dispatch_uid="infra.sharding.give_back")
        if not settings.DEBUG:
            request_started.disconnect(reset_queries)
