"""What Hob says, by codes, and the languages it says it in."""
