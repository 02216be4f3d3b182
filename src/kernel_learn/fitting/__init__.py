"""What every estimator does: parameters, validation, labels, probabilities, state."""
