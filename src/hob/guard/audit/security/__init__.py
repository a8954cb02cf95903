"""What could be safer about this Hob: checks as data over facts that somebody else has gathered."""
