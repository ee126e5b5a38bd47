"""The WSGI application that granian serves."""

import gc
import os
from importlib import import_module

from django.core.wsgi import get_wsgi_application
from django.db.backends.signals import connection_created

from accounts.password_hasher import hash_like_a_web_server
from infra.sharding.bounded.wait_limits import wait_like_a_web_server
from infra.telemetry.publishing import PUBLISHER, WEB, metrics_folder

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
wait_like_a_web_server()
hash_like_a_web_server()
_django = get_wsgi_application()
# No request may meet a missing table: until migrate_shards has run, it is answered 503.
refuse_unready_database = import_module("infra.sharding.readiness").refuse_unready_database
connection_created.connect(refuse_unready_database)
routes = import_module("config.urls").urlpatterns
_application = import_module("web.short_path").ShortPath(_django, routes)
application = import_module("web.readiness_gate").ReadyGate(_application)
import_module("infra.changes.running_drainers").wait_for_drain()
PUBLISHER.publish(metrics_folder(), WEB)
import_module("infra.processes.reporter").REPORTER.report(WEB)

# Loaded modules are never freed, so the garbage collector need not visit them again.
gc.collect()
gc.freeze()
