"""Who may call the API: tokens, lockout, checks of Host and Origin."""
