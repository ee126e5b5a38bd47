"""What other systems of the operator use: the change feed, and the tokens that open it."""
