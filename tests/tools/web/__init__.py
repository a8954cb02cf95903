"""Tests of page fetching and web search."""
