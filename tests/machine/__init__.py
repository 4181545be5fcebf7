"""A state machine that does to the product what people, runtimes, workers and time do to it, in every order."""
