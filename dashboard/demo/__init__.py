"""A small agent runtime without any model, so that a first look shows real runs.

It is a stranger to the product: it speaks the machine API over HTTP, and imports nothing of it.
"""
