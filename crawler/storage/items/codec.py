"""Values in their stored form: decimals with all their digits, times with their zone."""

from __future__ import annotations

import decimal
import struct
from datetime import UTC
from decimal import Decimal
from typing import Any, Final

from bson.codec_options import CodecOptions, DatetimeConversion, TypeCodec, TypeRegistry
from bson.decimal128 import Decimal128

_BID: Final = struct.Struct("<QQ")  # IEEE 754 decimal128 with its coefficient in binary, least byte first
_BIAS: Final = 6176
_EXPONENT_AT: Final = 49
_SAFE_DIGITS: Final = 19  # any 19 digits fit 64 bits

# The decimals that fit: raises instead of rounding.
DECIMAL128: Final = decimal.Context(
    prec=34, Emin=-6143, Emax=6144, clamp=1, traps=[decimal.InvalidOperation, decimal.Overflow, decimal.Inexact]
)


def decimal128(value: Decimal) -> Decimal128:
    """*value* with exactly its digits, so 1.0 and 1.00 differ; raises what PyMongo raises if it does not fit.

    PyMongo converts bit by bit, which takes three times as long; plain numbers such as prices are built here.
    """
    text = str(value)
    whole, _, fraction = text.partition(".")
    digits = whole + fraction
    if len(digits) > _SAFE_DIGITS or not digits.isdecimal():  # a sign, an exponent, not finite
        return Decimal128(text)
    return Decimal128.from_bid(_BID.pack(int(digits), _BIAS - len(fraction) << _EXPONENT_AT))


class _DecimalCodec(TypeCodec):
    python_type = Decimal
    bson_type = Decimal128

    def transform_python(self, value: Decimal) -> Decimal128:
        return decimal128(value)

    def transform_bson(self, value: Decimal128) -> Decimal:
        return value.to_decimal()


# Decimal in both directions, and times with their zone; one beyond the years 1 to 9999 is read as the nearest, and
# bytes in a text that are no UTF-8 as U+FFFD: another program may have written anything.
CODEC: Final[CodecOptions[dict[str, Any]]] = CodecOptions(
    tz_aware=True,
    tzinfo=UTC,
    type_registry=TypeRegistry([_DecimalCodec()]),
    datetime_conversion=DatetimeConversion.DATETIME_CLAMP,
    unicode_decode_error_handler="replace",
)
