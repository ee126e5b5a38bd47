"""Puts Tideline together and starts it: settings, urls, Celery, local servers, runner."""
