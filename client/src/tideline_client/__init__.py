"""The typed client of Tideline.

from tideline_client import Tideline

tideline = Tideline("https://feed.example.org", token)
ann = tideline.provisioning.put("user-1001", username="ann").account_id
tideline.acting_for(ann).statuses.create("Hello, tide")
for status in tideline.acting_for(ann).timelines.home().first():
    print(status.account.acct, status.content)
"""

from tideline_client import models
from tideline_client.awaiting import AsyncAccountCalls
from tideline_client.blocking import AccountCalls
from tideline_client.client import AsyncTideline, Tideline
from tideline_client.errors import (
    DeadlineExceeded,
    InvalidRequest,
    NotAllowed,
    NotFound,
    PositionGone,
    Postponed,
    QuotaUsedUp,
    Refused,
    TidelineError,
    TokenRefused,
    Unavailable,
    UnexpectedAnswer,
    Unreachable,
)
from tideline_client.pages import AsyncPages, Cursor, Page, Pages
from tideline_client.streams import StreamEvent
from tideline_client.version import VERSION

__all__ = [
    "VERSION",
    "AccountCalls",
    "AsyncAccountCalls",
    "AsyncPages",
    "AsyncTideline",
    "Cursor",
    "DeadlineExceeded",
    "InvalidRequest",
    "NotAllowed",
    "NotFound",
    "Page",
    "Pages",
    "PositionGone",
    "Postponed",
    "QuotaUsedUp",
    "Refused",
    "StreamEvent",
    "Tideline",
    "TidelineError",
    "TokenRefused",
    "Unavailable",
    "UnexpectedAnswer",
    "Unreachable",
    "models",
]
