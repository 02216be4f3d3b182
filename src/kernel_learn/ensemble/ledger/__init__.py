"""What is known of every training row and column: values, explanations, forgetting."""
