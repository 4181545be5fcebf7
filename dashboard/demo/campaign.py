"""The campaign that the newsletter's agent proposes."""

from typing import Any

_TEXT = """Hello {{ first_name }},

the days grow short, and the oven is warm again. In this letter: three soups for a rainy evening, how to keep
your {{ favourite }} sharp, and 15 % off everything made of cast iron until Sunday.

See you in the kitchen,
your kitchen club
"""

_HTML = """<h1>Hello {{ first_name }},</h1>
<p>the days grow short, and the oven is warm again. In this letter:</p>
<ul>
<li>three soups for a rainy evening,</li>
<li>how to keep your {{ favourite }} sharp,</li>
<li><strong>15&nbsp;% off</strong> everything made of cast iron until Sunday.</li>
</ul>
<p>See you in the kitchen,<br>your kitchen club</p>
"""

_NAMES = """
Mara Lindqvist, Tomas Okafor, Priya Raman, Jonas Weber, Aiko Tanaka, Bruno Silva, Clara Novak, Dele Adeyemi,
Elif Kaya, Farid Haddad, Greta Olsen, Hugo Martin, Ines Costa, Jakub Zielinski, Kaja Berg, Liam Byrne,
Maya Cohen, Nils Becker, Oona Virtanen, Pablo Ruiz, Quinn Harper, Rosa Conti, Sven Nyberg, Tara Singh,
Uma Patel, Viktor Petrov, Wanda Kowalska, Xavier Dupont, Yara Nasser, Zoe Miller, Anton Huber, Bela Kovacs,
Carmen Vega, Dara Kelly, Emil Larsen, Fiona Grant, Goran Babic
"""
_TOOLS = ("bread knife", "paring knife", "grater", "mandoline")

# As such lists are in real life: three entries that no mail can reach.
_UNREACHABLE = (
    ("hannah.schulz(at)mail.example", "Hannah"),
    ("ivo@", "Ivo"),
    ("lena.fuchs@mail..example", "Lena"),
)


def campaign() -> dict[str, Any]:
    """The body of the campaign's proposal, without the run that proposes it: 40 recipients, 37 reachable."""
    names = [name.split() for name in _NAMES.split(",")]
    reachable = [(f"{first}.{last}@mail.example".lower(), first) for first, last in names]
    people = [*reachable[:9], _UNREACHABLE[0], *reachable[9:24], *_UNREACHABLE[1:], *reachable[24:]]
    return {
        "external_id": "newsletter-autumn",
        "name": "Autumn newsletter of the kitchen club",
        "purpose": "Bring members back into the shop before the cast iron offer ends.",
        "from": "Kitchen Club <news@shop.example>",
        "reply_to": "hello@shop.example",
        "subject": "{{ first_name }}, three soups for a rainy evening",
        "text": _TEXT,
        "html": _HTML,
        "recipients": [
            {"email": email, "vars": {"first_name": name, "favourite": _TOOLS[number % len(_TOOLS)]}}
            for number, (email, name) in enumerate(people)
        ],
    }
