"""Make zip archives: of any members, damaged ones, and a zip bomb."""

import io
import struct
import zipfile
import zlib
from functools import lru_cache

from engine.files.sources import SourceFile


def zipped(members, name="texts.zip"):
    """Make an archive from contents by name; from pairs, to use a name twice."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for member, content in members.items() if isinstance(members, dict) else members:
            archive.writestr(zipfile.ZipInfo(member), content, zipfile.ZIP_DEFLATED)
    return SourceFile(name, buffer.getvalue())


def patched(data, *, central, local, value, layout):
    """Overwrite one field in both headers of an archive's only member."""
    changed = bytearray(data)
    struct.pack_into(layout, changed, data.index(b"PK\x03\x04") + local, value)
    struct.pack_into(layout, changed, data.rindex(b"PK\x01\x02") + central, value)
    return bytes(changed)


@lru_cache(maxsize=2)
def bomb(claimed_size=1000 << 20):
    """Make an archive of 1 MB with 1,000 MB of zeros in it, whatever size its headers claim."""
    block = bytes(1 << 20)
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    packed = (packer.compress(block) + packer.flush(zlib.Z_FULL_FLUSH)) * 1000 + packer.flush()
    checksum = 0
    for _ in range(1000):
        checksum = zlib.crc32(block, checksum)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("zeros.txt", packed)
    data = patched(buffer.getvalue(), local=8, central=10, value=8, layout="<H")  # deflated
    data = patched(data, local=14, central=16, value=checksum, layout="<I")
    data = patched(data, local=22, central=24, value=claimed_size, layout="<I")
    return SourceFile("bomb.zip", data)
