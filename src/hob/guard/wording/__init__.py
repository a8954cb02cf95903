"""What the guard says to people, in English and German."""
