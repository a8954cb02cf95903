"""Tests of the media tools."""
