"""Memory connected to the timeline, the owner's files and the clock."""
