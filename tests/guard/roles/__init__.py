"""Third-party services whose specs describe their arguments: everyday work, and attacks on it."""
