"""The browser for these tests."""

from tests.browsers import chromium

__all__ = ["chromium"]
