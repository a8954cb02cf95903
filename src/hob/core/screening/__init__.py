"""Rule-based detectors for texts: secrets, personal data, bounded patterns. No I/O."""
