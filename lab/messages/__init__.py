"""Finds the texts of pages, mails and messages in the code, and writes their translations."""
