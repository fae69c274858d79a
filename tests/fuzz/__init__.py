"""A mutation fuzzer: whatever a file holds, Glossa reads it or refuses it in one sentence.

seeds      one small file per format, made by our own writers
mutations  flips, cuts, splices, extreme values; JSON, zips and databases by their structure
targets    what is done with a mutated file: read, write, import, open
cases      one case by its number, and what counts as a defect
campaign   many cases in limited processes (`make fuzz CASES=100000`)

Plain seeded random numbers, not hypothesis: a case is known by its number alone, so that it can run
in a process that may die, and be repeated.
"""
