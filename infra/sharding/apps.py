"""Django's registration of infra.sharding; installs the guard on every connection."""

from django.apps import AppConfig
from django.db.backends.signals import connection_created

from infra.sharding.guard import install_guard


class ShardingConfig(AppConfig):
    name = "infra.sharding"
    label = "sharding"

    def ready(self) -> None:
        connection_created.connect(install_guard, dispatch_uid="infra.sharding.guard")
