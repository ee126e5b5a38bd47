"""All processes of Tideline and its stores, as children of the harness."""
