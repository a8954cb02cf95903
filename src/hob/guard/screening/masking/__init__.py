"""Masking of known secrets in every text before it leaves or is stored, and of personal data where that helps."""
