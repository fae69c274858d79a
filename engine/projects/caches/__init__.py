"""Results that are slow to compute, kept beside the project; they may be deleted at any time.

code_version  a hash of the code behind a result, so that other code makes it stale
corpus        text that was read and tokenized
labels        distant labels
dictionaries  dictionaries that were read to be shown, until they are saved
"""
