"""`layerscope-capture serve-bench`: a server, its engine's benchmark client, and their end."""
