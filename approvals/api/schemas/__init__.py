"""What goes in and out, one noun a file: the OpenAPI document is made from these."""
