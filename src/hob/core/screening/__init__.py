"""What can be found in a text by rule: secrets, personal data, patterns bounded in their steps. No I/O."""
