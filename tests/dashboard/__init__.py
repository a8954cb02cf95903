"""The dashboard in a real browser, against the real daemon."""
