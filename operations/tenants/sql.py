"""Statements on the list of tenants, for a process that has no settings yet (config/tenant.py)."""

READ_ROW = "SELECT number, url, hosts FROM tenants_tenant WHERE name = %s AND state <> 'deleted'"
