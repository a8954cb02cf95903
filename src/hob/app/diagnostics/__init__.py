"""What is wrong with this Hob, and what to do about it: checks as data over one home.

`hob doctor` and `hob security audit` are two views of them.
"""
