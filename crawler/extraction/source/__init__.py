"""The bytes of a page before they are parsed: unpacked, decoded, made safe, searched. No tree is built."""
