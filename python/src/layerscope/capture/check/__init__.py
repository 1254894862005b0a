"""`check`: what is missing between a model and its layer table."""
