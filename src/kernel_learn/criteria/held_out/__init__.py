"""What held-out rows say: exact leave-one-out, stacking, weights of members."""
