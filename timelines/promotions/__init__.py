"""Promotions (T11): campaigns of operators, blended into home timelines at read."""
