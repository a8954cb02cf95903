"""The settings of a Hob: their sections, read again and changed while it runs, shown; where secrets are kept."""
