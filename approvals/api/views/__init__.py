"""One view a call: what was sent goes to a service or selector, what came of it back."""
