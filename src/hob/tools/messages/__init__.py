"""Tools that talk to people: `message`, `ask_user`, `report_progress`."""
