"""The tools that talk to people: `ask_user`, `report_progress`."""
