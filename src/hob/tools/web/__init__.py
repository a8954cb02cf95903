"""Web search and page fetching."""
