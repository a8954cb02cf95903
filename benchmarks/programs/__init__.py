"""Small programs that run beside Hob, above all the baselines."""
