"""Screening of model calls: the prompt guard for requests, the sanitizer for answers."""
