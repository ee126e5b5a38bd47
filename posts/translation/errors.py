"""Why a post is not translated."""

from infra.api.errors import InvalidRequest, TidelineError


class TranslatorAway(TidelineError):
    """It does not answer, or it answered something else, or too many ask it at once."""

    status = 503
    text = "The translation service does not answer at the moment, try again"
    headers = {"Retry-After": "10"}


class LanguageUnknown(InvalidRequest):
    """The service does not translate from the language of the post into this one."""

    text = "lang is no language into which this post can be translated"
