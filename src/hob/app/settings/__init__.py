"""Settings: sections, run-time changes, reloading, and where secrets are stored."""
