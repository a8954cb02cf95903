"""Known secrets, taken out of every text before it leaves or is stored; personal data only where that helps."""
