"""Which account of this site is which account of another system."""
