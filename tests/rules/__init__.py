"""Rules on the text of the product and of its documents, which `make check` looks for."""
