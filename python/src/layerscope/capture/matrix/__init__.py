"""A declared matrix of decode runs: family x batch x past length x precision x parallelism.

`declaration` reads the file, `planned_runs` expands it, `execution` runs what is missing and
`result_table` keeps the results in one SQLite table.
"""
