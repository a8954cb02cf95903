"""Outgoing webhooks: signed, ordered per receiver, retried until they are accepted."""
