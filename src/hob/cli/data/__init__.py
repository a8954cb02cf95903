"""Commands about the data: backup, restore, export, erase, rebuild, memory."""
