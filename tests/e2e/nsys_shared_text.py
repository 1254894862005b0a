"""A small database whose rows share one long text: what SQLite reads of it is far more than the file.

Written page by page after the file format of SQLite (its documentation, "Database File Format"): cells
of a table's leaves that do not fit hold the number of an overflow page, and nothing keeps many cells
from naming the same one.
"""

import sqlite3
import struct

PAGE = 512
TEXT_BYTES = 300_000
COLUMNS = "start INTEGER, end INTEGER, eventType INTEGER, text TEXT, globalTid INTEGER"
GLOBAL_TID = (1 << 48) | (1 << 24) | 1
#: Bytes of a cell's payload that stand in the leaf, where the rest is an exact number of pages.
LOCAL = (PAGE - 12) * 32 // 255 - 23
OVERFLOW = PAGE - 4


def varint(value):
    """Seven bits a byte, the highest first."""
    out = [value & 0x7F]
    while value := value >> 7:
        out.append(value & 0x7F | 0x80)
    return bytes(reversed(out))


def head(text_bytes):
    """The record's head: three integers of a byte, a text, an integer of eight bytes."""
    types = bytes([1, 1, 1]) + varint(13 + 2 * text_bytes) + bytes([6])
    return bytes([len(types) + 1]) + types


def cell(row, text_bytes, overflow):
    payload = len(head(text_bytes)) + 3 + text_bytes + 8
    local = head(text_bytes) + bytes([1, 2, 59])
    local += b"%0*d" % (LOCAL - len(local), row)
    return varint(payload) + varint(row) + local + struct.pack(">I", overflow)


def page(kind, cells, right=None):
    """A page of a table's tree: 13 a leaf, 5 an inner one with its last child."""
    out, at = bytearray(PAGE), PAGE
    first = 8 if right is None else 12
    for number, body in enumerate(cells):
        at -= len(body)
        out[at:at + len(body)] = body
        struct.pack_into(">H", out, first + 2 * number, at)
    struct.pack_into(">BHHHB", out, 0, kind, 0, len(cells), at, 0)
    if right is not None:
        struct.pack_into(">I", out, 8, right)
    return bytes(out)


class Pages:
    def __init__(self, content):
        self.content = bytearray(content)

    def add(self, body):
        """The number of the page that `body` becomes."""
        self.content += body.ljust(PAGE, b"\0")
        return len(self.content) // PAGE


def shared_length():
    """A length near TEXT_BYTES with which the payload's end falls on a page's end."""
    length = TEXT_BYTES
    while (len(head(length)) + 3 + length + 8 - LOCAL) % OVERFLOW != 0:
        length += 1
    return length


def write(file, n_rows):
    """Ranges of n_rows, each with another begin of the same text of 300 kB."""
    with sqlite3.connect(file) as made:
        made.execute(f"PRAGMA page_size={PAGE}")
        made.execute("CREATE TABLE META_DATA_EXPORT (name TEXT, value TEXT)")
        made.execute(f"CREATE TABLE NVTX_EVENTS ({COLUMNS})")
        root, = made.execute("SELECT rootpage FROM sqlite_master WHERE name = 'NVTX_EVENTS'").fetchone()
    made.close()
    pages, length = Pages(file.read_bytes()), shared_length()
    tail = len(head(length)) + 3 + length + 8 - LOCAL - 8
    body = b"x" * tail + struct.pack(">q", GLOBAL_TID)
    overflow = len(pages.content) // PAGE + 1
    for at in range(0, len(body), OVERFLOW):
        following = overflow + at // OVERFLOW + 1 if at + OVERFLOW < len(body) else 0
        pages.add(struct.pack(">I", following) + body[at:at + OVERFLOW])
    a_leaf = (PAGE - 8) // (len(cell(n_rows, length, overflow)) + 2)
    level = []
    for first in range(1, n_rows + 1, a_leaf):
        rows = range(first, min(first + a_leaf, n_rows + 1))
        level.append((pages.add(page(13, [cell(row, length, overflow) for row in rows])), rows[-1]))
    while len(level) > 1:
        groups = [level[at:at + 40] for at in range(0, len(level), 40)]
        level = [(pages.add(page(5, [struct.pack(">I", child) + varint(key) for child, key in group[:-1]],
                                 group[-1][0])), group[-1][1]) for group in groups]
    top = level[0][0]
    content = pages.content
    content[(root - 1) * PAGE:root * PAGE] = content[(top - 1) * PAGE:top * PAGE]
    struct.pack_into(">I", content, 28, len(content) // PAGE)
    file.write_bytes(content)
