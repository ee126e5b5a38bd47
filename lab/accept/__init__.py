"""Facts of the code that the repository records for readers and reviews: `make accept`.

It decides nothing: answers of the role matrix, refusals, costs and budgets are written by hand.
"""
