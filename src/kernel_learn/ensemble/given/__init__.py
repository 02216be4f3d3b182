"""Targets as they are given: at once, or in blocks."""
