"""What is optimised: value, gradient, sometimes Hessian, lower bound."""
