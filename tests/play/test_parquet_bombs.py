"""Parquet files of a stranger's record that are small and stand for more than a machine has.

Each is made and read in a process with 3 GiB.
"""

import subprocess
import sys

import pytest

PROGRAM = """
import resource, sys
from pathlib import Path
import pyarrow as pa, pyarrow.parquet as pq
from stratagem.base.errors import BadRecord
from stratagem.playing.schemas import SCHEMAS
from stratagem.playing.store import read_columns

resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))
folder, kind, schema = Path(sys.argv[1]), sys.argv[2], SCHEMAS["decisions"]
rows, times = {"texts": (500_000, 4), "nested": (2_000, 150), "rows": (1_000_000, 30)}[kind]


def column(field):
    if kind == "nested" and pa.types.is_list(field.type):
        part = {one.name: "y" * 10_000 if pa.types.is_string(one.type) else None for one in field.type.value_type}
        return pa.array([[part]] * rows, field.type)
    if kind == "texts" and field.name == "said":
        zeros = pa.Array.from_buffers(pa.int8(), rows, [None, pa.py_buffer(bytes(rows))])
        return pa.DictionaryArray.from_arrays(zeros, pa.array(["x" * 10_000]))
    return pa.nulls(rows, field.type)


path = folder / "decisions" / "000000.parquet"
path.parent.mkdir(parents=True)
table = pa.table([column(field) for field in schema], names=schema.names)
with pq.ParquetWriter(path, table.schema, compression="zstd", store_schema=False) as writer:
    for _ in range(times):
        writer.write_table(table)
    writer.add_key_value_metadata(schema.metadata)
print("size", path.stat().st_size)
try:
    read_columns(folder, "decisions", 0, ["episode", "said", "parts"])
except BadRecord as error:
    print("refused:", error)
"""


@pytest.mark.runs
@pytest.mark.parametrize(
    ("kind", "said"), [("texts", "texts of more than"), ("nested", "texts of more than"), ("rows", "30,000,000 rows")]
)
def test_bomb_in_a_record_is_refused_in_one_sentence(kind, said, tmp_path):
    command = [sys.executable, "-c", PROGRAM, str(tmp_path), kind]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    size, refused = done.stdout.splitlines()
    assert int(size.split()[1]) < 2_000_000
    assert refused.startswith("refused: ")
    assert said in refused
