"""What enters memory."""
