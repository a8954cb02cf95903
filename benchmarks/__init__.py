"""What Hob costs, measured on the real program: `python -m benchmarks` prints a table, the baselines beside it.

Linux only: CPU seconds and memory are read from /proc.
"""
