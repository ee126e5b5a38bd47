"""Maintenance of relations: fill, compare, mend, end. The commands only run what is here."""
