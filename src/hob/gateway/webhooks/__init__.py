"""What machines send to `/hooks/NAME`: who may, what is in it, and how it becomes a message."""
