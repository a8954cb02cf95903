"""Small programs that run beside Hob: the baselines, and a daemon with a tool."""
