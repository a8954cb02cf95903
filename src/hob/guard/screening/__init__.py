"""Looking texts over: known secrets, attempts to steer Hob, forwarded words."""
