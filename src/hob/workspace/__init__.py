"""Files the owner writes."""
