"""How Tideline is put together and started: settings, urls, Celery, embedded services, runner."""
