"""Questions to the owner: what they show, what they bind, how they are answered."""
