"""Budgets of money: limits, what a call holds back before it is made, what was spent."""
