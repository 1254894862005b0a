"""`walk`: the module tree of a live model, with what a forward calls and in which order."""
