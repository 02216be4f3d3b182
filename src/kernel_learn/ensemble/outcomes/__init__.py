"""What becomes of held-out scores: classes, labels, numbers."""
