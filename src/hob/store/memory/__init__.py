"""What is remembered, as rows."""
