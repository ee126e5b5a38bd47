"""The ASGI application of a worker, and what its process needs."""

import gc
import os
import resource
from importlib import import_module

import django
from django.conf import settings
from django.db.backends.signals import connection_created

from infra.sharding.bounded.wait_limits import wait_like_a_web_server
from infra.telemetry.publishing import PUBLISHER, metrics_folder
from web.serving.worker import collect_all_rarely

ROLE = "streaming"

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
wait_like_a_web_server()
django.setup()
refuse_unready_database = import_module("infra.sharding.readiness").refuse_unready_database
connection_created.connect(refuse_unready_database)
application = import_module("web.streaming.application").StreamingApplication(
    settings.STREAMING_CONNECTIONS
)
PUBLISHER.publish(metrics_folder(), ROLE)
import_module("infra.processes.reporter").REPORTER.report(ROLE)

# Each stream is a file.
_soft, _hard = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (_hard, _hard))

# Loaded modules are never freed, so the garbage collector need not visit them again.
gc.collect()
gc.freeze()
# Ten thousand connections are a million objects, which no message should wait for.
collect_all_rarely()
