"""What rows left out say: exact leave-one-out, stacking, weights of members."""
