"""What Hob tells other machines of: signed, one receiver a chat, in order, again until it is taken."""
