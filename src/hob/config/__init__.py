"""Settings: merged from defaults, file, environment, stored overrides and flags; every value knows its origin."""
