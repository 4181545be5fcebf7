"""The scripted runtime of the demo."""
