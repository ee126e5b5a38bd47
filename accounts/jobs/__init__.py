"""The job behind audit_accounts."""
