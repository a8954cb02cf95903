"""Remember and recall: what is worth keeping, and what helps with a question."""
