"""Spending budgets: limits, reservations and the ledger."""
