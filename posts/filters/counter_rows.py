"""Registers the rows that the count of filters counts."""

from counters.kinds import CounterKind
from counters.registry import CountedRows, register_counted_rows

register_counted_rows(CounterKind.FILTERS, CountedRows("filters_filter", "owner_id"))
