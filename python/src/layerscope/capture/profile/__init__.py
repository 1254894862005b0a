"""`profile`: profiler traces of single requests, one file each."""
