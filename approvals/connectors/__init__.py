"""How work reaches the outside world: one package a runtime or channel, plain dataclasses in and out."""
