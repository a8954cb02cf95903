"""Model routing: which model answers, and which one is tried next if it fails."""
