"""Words of a text and their ids (docs/model-file.md, section 5): ASCII, letters of Latin, Greek and Cyrillic, ideographs and
faces. The word boundaries of other scripts need tables that Python does not have."""

import re
import unicodedata


BREAK = re.compile(r"<[bB][rR](?:>|/>| />)")


def word_break(c):
    """What a character is to the word boundaries of UAX #29, as far as this script knows them."""
    if "0" <= c <= "9":
        return "digit"
    if c == "_":
        return "joiner"
    if c in "'.\u2018\u2019\u2024":
        return "between both"
    if c in ":\u00b7\u2027":
        return "between letters"
    if c in ",;":
        return "between digits"
    point, category = ord(c), unicodedata.category(c)
    if category[0] == "L" and (point < 0x530 or 0x1E00 <= point < 0x2000):
        return "letter"
    alone = point < 0xC0 and c not in "\u00ad\u00b8" or c in "×÷" or 0x2010 <= point < 0x2028 or 0x4E00 <= point < 0xA000 or 0x1F600 <= point < 0x1F650
    assert alone, f"U+{point:04X}: this script does not know its word boundaries"
    return "alone"


def segments(piece):
    """The piece cut at its word boundaries."""
    kinds = [word_break(c) for c in piece]
    inner = ("letter", "digit", "joiner")
    start = 0
    for i in range(1, len(piece) + 1):
        if i < len(piece):
            before, here = kinds[i - 1], kinds[i]
            if before in inner and here in inner:
                continue
            joined = False
            for side, signs in (("letter", ("between both", "between letters")), ("digit", ("between both", "between digits"))):
                joined |= here in signs and before == side and kinds[i + 1:i + 2] == [side]
                joined |= before in signs and here == side and i >= 2 and kinds[i - 2] == side
            if joined:
                continue
        yield piece[start:i]
        start = i


def speaks(c):
    return c.isalnum() or 0x1F600 <= ord(c) < 0x1F650


def words(text):
    """The words of a text, in lower case; of each character by itself, so that no sigma is a final one."""
    for piece in re.split("[ \t\n\f\r]+", BREAK.sub(" ", text)):
        for segment in segments(piece):
            if any(speaks(c) for c in segment):
                yield "".join(c.lower() for c in segment.replace("\u2019", "'"))


def encode_text(tokenizer, text):
    """Ids: 1 for an unknown word, 2 + i for the i-th of the vocabulary."""
    known = {word: 2 + i for i, word in enumerate(tokenizer["words"])}
    ids = [known.get(word, 1) for word in words(text or "")] or [1]
    length = tokenizer["length"]
    if len(ids) <= length:
        return ids
    head = {"start": length, "end": 0, "both": length // 4}[tokenizer["keep"]]
    return ids[:head] + ids[len(ids) - (length - head):]
