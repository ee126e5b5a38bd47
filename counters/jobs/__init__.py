"""Maintenance of counts: compare, mend, cache again. The commands only run what is here."""
