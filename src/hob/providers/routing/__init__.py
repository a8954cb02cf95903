"""Model routing: which model answers, and which is next if it fails."""
