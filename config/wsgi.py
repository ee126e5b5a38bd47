"""The WSGI application that granian serves."""

import gc
import os

from django.core.wsgi import get_wsgi_application

from infra.sharding.bounded.patience import wait_like_a_web_server
from infra.telemetry.publishing import PUBLISHER, WEB, metrics_folder

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
wait_like_a_web_server()
application = get_wsgi_application()
PUBLISHER.publish(metrics_folder(), WEB)

# Loaded modules are never freed, so the garbage collector need not visit them again.
gc.collect()
gc.freeze()
