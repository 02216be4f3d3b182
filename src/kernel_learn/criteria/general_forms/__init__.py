"""Jain's problem in its general forms: any linear constraint, convex penalty and regulariser."""
