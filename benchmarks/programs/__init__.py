"""Small programs that run beside Hob: the baselines."""
