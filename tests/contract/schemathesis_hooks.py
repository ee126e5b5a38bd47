"""What a schema cannot say; schemathesis loads this module (SCHEMATHESIS_HOOKS)."""

from collections import defaultdict
from itertools import count
from typing import Any

import schemathesis

from tests.pictures import picture

MOST_CHARACTERS = 500
# Django answers 400 to more parameters than that, in every operation.
MOST_PARAMETERS = 1_000
PICTURE = picture()
# They are half of all cases, once for each kind of body: one of so many is tried.
FREQUENT = {"incorrect_type", "valid_object"}
ONE_OF = 5
_numbers: "defaultdict[str, count[int]]" = defaultdict(count)


@schemathesis.hook
def filter_case(context: schemathesis.HookContext, case: schemathesis.Case) -> bool:
    """Leaves out most of the frequent cases of an operation, and those that are not drawn well."""
    scenario = getattr(getattr(case.meta and case.meta.phase.data, "scenario", None), "value", "")
    if scenario in FREQUENT and next(_numbers[case.operation.label + scenario]) % ONE_OF:
        return False
    return has_few_parameters(case) and is_post_that_can_be_sent(case)


def has_few_parameters(case: schemathesis.Case) -> bool:
    lists = [one for one in (case.query or {}).values() if isinstance(one, list)]
    return sum(map(len, lists)) <= MOST_PARAMETERS


def is_post_that_can_be_sent(case: schemathesis.Case) -> bool:
    """The text and the spoiler are not too long together: each may be that long.

    And there is a text, because a spoiler alone becomes it. And the post has no images, because
    drawn ids are of no image.
    """
    body = case.body
    if "/api/v1/statuses" not in case.operation.label or not isinstance(body, dict):
        return True
    if body.get("media_ids"):
        return False
    if isinstance(body.get("spoiler_text"), str) and not str(body.get("status") or "").strip():
        return False
    texts = [body.get(name) for name in ("status", "spoiler_text")]
    return sum(len(text) for text in texts if isinstance(text, str)) <= MOST_CHARACTERS


@schemathesis.hook
def before_call(context: schemathesis.HookContext, case: schemathesis.Case, kwargs: Any) -> None:
    """Sends an image where a request is to be accepted: a schema cannot describe one."""
    is_right = case.meta is not None and case.meta.generation.mode.is_positive
    if is_right and isinstance(case.body, dict) and "file" in case.body:
        case.body["file"] = PICTURE
