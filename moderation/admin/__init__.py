"""Moderation in the admin: users, the queues of reports and appeals, and the decisions.

A moderator decides by adding a decision. Django's admin imports this package.
"""

from moderation.admin.appeals import AppealAdmin
from moderation.admin.decisions import DecisionAdmin, JointDecisionAdmin, TimedRestrictionAdmin
from moderation.admin.reports import ReportAdmin
from moderation.admin.users import UserAdmin

__all__ = [
    "AppealAdmin",
    "DecisionAdmin",
    "JointDecisionAdmin",
    "ReportAdmin",
    "TimedRestrictionAdmin",
    "UserAdmin",
]
