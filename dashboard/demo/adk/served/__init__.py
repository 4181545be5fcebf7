"""The working directory of the reference service. It imports nothing of the product."""
