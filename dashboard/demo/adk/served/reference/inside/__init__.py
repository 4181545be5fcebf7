"""What needs google-adk: the model, the tools, the services, and the agents made of them."""
