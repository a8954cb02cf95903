"""The terminal chat: a prompt with live answers, or plain lines for pipes and simple terminals."""
