"""Which model is asked, and which next when it fails."""
