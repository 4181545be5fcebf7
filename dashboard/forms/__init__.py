"""What people send, one module a page."""
