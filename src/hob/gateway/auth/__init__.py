"""Authentication of the API: tokens, browsers, lockout, Host and Origin checks."""
