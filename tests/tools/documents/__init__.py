"""Tests of document text."""
