"""Delivery rules: silent mode, and web users' links to chats."""
