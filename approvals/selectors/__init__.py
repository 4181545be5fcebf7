"""Reads, shaped for the pages and the API."""
