"""The container of a model file: header document, tensors, checksum (docs/model-file.md, sections 1 to 4)."""

import json
import struct
import sys
import zlib

import numpy as np

FORMAT_VERSION = 7


def read_model(path):
    """Header document and tensors of a model file, with its checksum verified."""
    with open(path, "rb") as file:
        content = file.read()
    (length,) = struct.unpack("<Q", content[:8])
    entries = json.loads(content[8:8 + length])
    checksum, document = entries.pop("__metadata__")["ign"].split(" ", 1)
    header = json.loads(document)
    if header["format_version"] > FORMAT_VERSION:
        sys.exit(f"{path}: format version {header['format_version']} is newer than {FORMAT_VERSION}")
    tensors = {}
    for name, entry in entries.items():
        assert entry["dtype"] == "F32", f"{name} is {entry['dtype']}"
        start, end = (8 + length + offset for offset in entry["data_offsets"])
        tensors[name] = np.frombuffer(content[start:end], dtype="<f4").reshape(entry["shape"])
    crc = checksum_of(document, tensors)
    if checksum != crc:
        sys.exit(f"{path}: checksum {checksum} in the file, {crc} of its contents")
    return header, tensors


def write_model(path, header, tensors):
    """A model file with this header and these tensors: what was read, with other values."""
    document, entries, end = json.dumps(header), {}, 0
    for name, values in tensors.items():
        entries[name] = {"dtype": "F32", "shape": values.shape, "data_offsets": [end, end + values.nbytes]}
        end += values.nbytes
    entries["__metadata__"] = {"ign": f"{checksum_of(document, tensors)} {document}"}
    container = json.dumps(entries).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(container)) + container)
        file.writelines(values.tobytes() for values in tensors.values())


def checksum_of(document, tensors):
    crc = zlib.crc32(document.encode())
    for name in sorted(tensors):
        shape = ", ".join(str(size) for size in tensors[name].shape)
        crc = zlib.crc32(tensors[name].tobytes(), zlib.crc32(f"{name}[{shape}]".encode(), crc))
    return f"{crc:08x}"


def within(tensors, prefix):
    """The tensors below a name, by the rest of their names."""
    return {name.removeprefix(prefix): values for name, values in tensors.items() if name.startswith(prefix)}
