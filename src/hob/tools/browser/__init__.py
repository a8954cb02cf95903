"""The browser: Chromium with a profile per conversation, whose traffic is filtered."""
