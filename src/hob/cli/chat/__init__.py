"""The chat in a terminal: plain lines for pipes and simple terminals, a prompt with live answers for the others."""
