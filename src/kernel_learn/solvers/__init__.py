"""Loops and closed forms on small protocols; they never see rows or strings."""
