"""Recognise the errors of a full disk."""

import errno

_FULL = (errno.ENOSPC, errno.EDQUOT)


def is_disk_full(error: BaseException | None) -> bool:
    """Return whether an error, or one that it came from, says that the disk is full.

    >>> is_disk_full(OSError(errno.ENOSPC, "No space left on device")), is_disk_full(OSError())
    (True, False)
    """
    while error is not None:
        if isinstance(error, OSError) and error.errno in _FULL:
            return True
        if "(os error 28)" in str(error):  # as Rust writes it: safetensors, tokenizers
            return True
        error = error.__cause__ or error.__context__
    return False
