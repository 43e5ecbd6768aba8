"""The vocabulary of the demo shops."""

from __future__ import annotations

from typing import Final

ADJECTIVES: Final = (
    "Alder", "Amber", "Arctic", "Birch", "Blue", "Bright", "Calm", "Cedar", "Classic", "Compact", "Copper",
    "Coral", "Crisp", "Dawn", "Deep", "Dusk", "Ember", "Fern", "Field", "Folding", "Forest", "Golden",
    "Granite", "Harbour", "Hazel", "Heavy", "Ivory", "Juniper", "Lake", "Light", "Linen", "Maple", "Meadow",
    "Misty", "Moss", "Northern", "Oak", "Ocean", "Olive", "Pebble", "Pine", "Polar", "Quiet", "Rapid",
    "Rustic", "Sable", "Silver", "Slate",
)  # fmt: skip

# category -> products; some words are here to test escaping and encodings
NOUNS: Final = {
    "Kitchen": (
        "Kettle",
        "Chef's Knife",
        "Crème Brûlée Torch",
        "Cutting Board",
        "Salt & Pepper Mill",
        "Stock Pot",
    ),
    "Outdoor": ("Tent", "Sleeping Bag", "Head Torch", "Backpack 30 l", "Camp Stove", "Water Filter"),
    "Home Office": (
        "Desk Lamp",
        'Monitor 27"',
        "Office Chair",
        "Standing Desk",
        "Keyboard",
        "Noise-Free Fan",
    ),
    "Garden": ("Watering Can", "Pruning Saw", "Bird Feeder", "Hose Reel 20 m", "Raised Bed", "Müller Spade"),
}

BRANDS: Final = ("Aster & Co", "Brightwell", "Corvid", "Dørum", "Eastmoor", "Fennimore", "Grünwald", "Hollis")

NAMES: Final = (
    "Ada",
    "Björn",
    "Chidi",
    "Dana",
    "Emeka",
    "Fatima",
    "Goran",
    "Hanna",
    "Ines",
    "Jun",
    "Kofi",
    "Lena",
)

SENTENCES: Final = (
    "It came well packed and has been in daily use since.",
    "The handle sits well in the hand, even with gloves on.",
    "Made of recycled material and repairable with common tools.",
    "Every part can be ordered one by one for at least ten years.",
    "Cleaning takes a minute; nothing has to be taken apart.",
    "It weighs a little more than the model before it, and is much sturdier.",
    "The finish is matt, so that scratches do not show.",
    "Tested through two winters by people who use it for their work.",
    "The colour is a shade darker than in the pictures.",
    "Storage is simple: it folds flat and stands on its own.",
    "A spare set of seals is in the box, with the key to change them.",
    "Assembly needs two people and a quarter of an hour.",
    "The manual is short, clear and written by somebody who knows the thing.",
    "It does one job, and it does it without any fuss.",
    "The former version of it is still going strong in my parents' house.",
    "Delivery took three days, and the parcel could have been half the size.",
    "For the size of it there is a surprising amount of room inside.",
    "I would buy it again, though I would choose the larger one.",
)
