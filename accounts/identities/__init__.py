"""Accounts by the ids that other systems of the operator have for their people."""
