"""Benchmarks of the installed program: `python -m benchmarks` prints the results as a table, with baselines.

Linux only: CPU seconds and memory are read from /proc.
"""
