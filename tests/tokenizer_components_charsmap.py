"""Makes SentencePiece's map of strings (a Darts-clone double array and its texts, in base64) for tests."""
import base64
import struct


def charsmap(mapping):
    blob, where, trie = b"", {}, {}
    for text in mapping.values():
        if text not in where:
            where[text] = len(blob)
            blob += text.encode() + b"\0"
    for key, text in mapping.items():
        node = trie
        for byte in key.encode():
            node = node.setdefault(byte, {})
        node[None] = where[text]
    units, bases = {0: 0}, set()
    waiting = [(0, trie)]
    while waiting:
        at, node = waiting.pop()
        labels = [label or 0 for label in node]
        base = 1
        while base in bases or any(base ^ label in units for label in labels):
            base += 1
        bases.add(base)
        assert at ^ base < 1 << 21
        units[at] |= (at ^ base) << 10
        for label, child in node.items():
            to = base ^ (label or 0)
            if label is None:
                units[at] |= 1 << 8
                units[to] = child | 1 << 31
            else:
                units[to] = label
                waiting.append((to, child))
    size = (max(units) // 256 + 1) * 256
    array = struct.pack(f"<{size}I", *(units.get(i, 0) for i in range(size)))
    return base64.b64encode(struct.pack("<I", len(array)) + array + blob).decode()
