"""Authentication of the API: tokens, browsers, lockout, checks of Host and Origin."""
