"""Structured logs: readable lines in development, JSON elsewhere.

Tracebacks have no local variables: they would write passwords and tokens into the log.
"""

import logging
import sys

import structlog

from infra.telemetry.request_ids import add_requests


def configure_logs(is_development: bool, level: str) -> None:
    """Configures structlog for the whole process. Call it once, when Django is ready."""
    renderer: structlog.typing.Processor = (
        structlog.dev.ConsoleRenderer(
            colors=sys.stderr.isatty(), exception_formatter=structlog.dev.plain_traceback
        )
        if is_development
        else structlog.processors.JSONRenderer()
    )
    format_error: list[structlog.typing.Processor] = (
        [] if is_development else [structlog.processors.format_exc_info]
    )
    structlog.configure(
        processors=[
            add_requests,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso"),
            *format_error,
            renderer,
        ],
        # Not standard output: commands print their results there, for example JSON.
        logger_factory=lambda *_: structlog.PrintLogger(sys.stderr),
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelName(level)),
    )
