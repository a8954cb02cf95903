"""Outgoing webhooks: signed, in order for each receiver, sent again until they are taken."""
