"""What may be done: stages from a call and its context to a verdict."""
