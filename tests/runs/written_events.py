"""TensorBoard's event files read back, with their checksums held to."""

import struct

from tensorboardX.proto.event_pb2 import Event
from tensorboardX.record_writer import masked_crc32c

from stratagem.training.runs.events import event_files


def events_of(path):
    """The whole records of a file, up to where it is torn."""
    data, start = path.read_bytes(), 0
    while start + 12 <= len(data):
        size, check = struct.unpack_from("<QI", data, start)
        assert check == masked_crc32c(data[start : start + 8])
        inner, end = data[start + 12 : start + 12 + size], start + size + 16
        if end > len(data):
            return
        assert struct.unpack_from("<I", data, end - 4)[0] == masked_crc32c(inner)
        yield Event.FromString(inner)
        start = end
    assert start == len(data)


def scalars_of(folder):
    """Steps with their scalars, in the order of the files."""
    events = (event for path in event_files(folder).values() for event in events_of(path))
    return [
        (event.step, {value.tag: value.simple_value for value in event.summary.value})
        for event in events
        if event.HasField("summary")
    ]
