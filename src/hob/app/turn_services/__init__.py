"""What turns are made with and the API serves, a module per service."""
