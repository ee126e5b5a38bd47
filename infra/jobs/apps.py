"""Django's registration of infra.jobs."""

from django.apps import AppConfig


class JobsConfig(AppConfig):
    name = "infra.jobs"
    label = "jobs"
