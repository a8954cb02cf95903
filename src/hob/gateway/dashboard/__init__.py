"""The dashboard: routes below `/api/v1`, and the files of the web page."""
