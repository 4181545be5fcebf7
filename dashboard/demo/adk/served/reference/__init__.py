"""What the reference service is made of. This folder knows no google-adk; `inside` does."""
