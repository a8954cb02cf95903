"""The browser: Chromium with one profile per conversation and filtered traffic."""
