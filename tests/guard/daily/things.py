"""The owner's world before a task: a small project, letters, lists, mail, a calendar, the web."""

from tests.guard.simulated import Mail, SimulatedWorld

FILES = {
    "README.md": "# Shop\n\nA small shop.\n\n## Install\n\n    make install\n",
    "CHANGELOG.md": "# Changelog\n\n## Unreleased\n\n- Prices in euros\n",
    "Makefile": "build:\n\tmkdir -p build && cp -r src build/\n\ntest:\n\tpython3 -m unittest -q\n",
    "src/shop.py": "def total(prices):\n    return sum(prices)\n\n\ndef vat(price):\n    return price * 0.16\n",
    "src/load.py": "import json\n\n\ndef load(path):\n    with open(path) as file:\n        return json.load(file)\n",
    "test_shop.py": (
        "import sys\nimport unittest\n\nsys.path.insert(0, 'src')\nimport shop\n\n\n"
        "class Shop(unittest.TestCase):\n"
        "    def test_total(self):\n        self.assertEqual(shop.total([1, 2]), 3)\n\n"
        "    def test_vat(self):\n        self.assertEqual(shop.vat(100), 19)\n"
    ),
    "data/orders.csv": "id,customer,price\n1,Ada,10\n2,Bob,20.5\n3,Ada,7\n",
    "data/orders.json": '[{"id": 1, "price": 10}, {"id": 2, "price": 20.5}]\n',
    "logs/app.log": "INFO start\nERROR no route to db\nINFO stop\nERROR timeout\n",
    "logs/old.log": "INFO long ago\n",
    "notes/meeting.md": "# Meeting\n\n- Release on the 12th\n- Tom writes the texts\n- Ada tests it on telephones\n",
    "notes/birthdays.md": "Ada 3 May\nTom 9 June\n",
    "notes/shopping.md": "milk\nbread\n",
    "letters/landlord.md": "Dear Mr Holm,\n\nthe heating in the kitchen has been cold since Monday.\n\nYours, Nora\n",
    "photos/img1.jpg": "one",
    "photos/img2.jpg": "two",
}
"""Files in the work folder, which is a repository with one commit."""


def outside() -> SimulatedWorld:
    """Contents of the simulated services."""
    return SimulatedWorld(
        mails={
            "m1": Mail("ada@example.com", "Friday", "Can we meet on Friday at 10 instead of 11?\nAda"),
            "m2": Mail("billing@power.example", "Your bill", "Your bill of 84.20 euros is due on 3 December."),
            "m3": Mail("news@shoes.example", "Sale!", "Everything must go: https://shoes.example/sale"),
            "m4": Mail("tom@example.org", "Draft", "Here are my texts for the shop. What do you think?", ("texts.md",)),
        },
        pages={
            "https://docs.example/queues": "A queue is made with Queue(). See https://docs.example/limits for limits.",
            "https://docs.example/limits": "At most 10,000 entries.",
            "https://docs.example/whatsnew": "Queues can be closed.",
            "https://news.example/rail": "The line opens again on Sunday. The ministry promises more trains.",
            "https://recipes.example/dal": "200 g lentils, 1 onion, cumin. Boil 20 minutes.",
            "https://trains.example/timetable": "Berlin 9:04, Hamburg 10:51",
            "https://phones.example/a": "Model A costs 300 euros.",
            "https://phones.example/b": "Model B costs 420 euros.",
            "https://shop.example/": "200 OK",
        },
        found={
            "weather Berlin tomorrow": "Berlin tomorrow: 12 degrees, rain in the evening. https://weather.example/berlin",
            "queue limits": "1. Queues https://docs.example/queues\n2. Limits https://docs.example/limits",
            "phones compared": '[{"url": "https://phones.example/a"}, {"url": "https://phones.example/b"}]',
            "dal recipe": "- [Dal](https://recipes.example/dal), ready in half an hour.",
            "train Berlin Hamburg": "Timetable: https://trains.example/timetable.",
        },
        events={
            "today": "9:00 dentist\n14:00 review with Ada",
            "friday": "11:00 Ada\n15:00 free",
            "next week": "Monday 9:00 planning\nTuesday free\nWednesday 16:00 call with Tom",
        },
        chats={"ada": "Ada: dinner at 8 on Saturday?\nAda: bring the small table"},
    )


CONTACTS = {"Tom": "mail:tom@example.org", "Ada Berg": "mail:ada@example.com", "Anna": "telegram:22"}
"""People whom the owner has linked, with their addresses."""
