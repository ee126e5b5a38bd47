"""Mutants: faults that are put into the product on purpose, to show that the checkers find them."""
