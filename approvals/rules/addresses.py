"""Whether mail can be addressed: e-mail addresses, mailboxes with a name, and text for header fields.

Answers are values, not exceptions: a recipient that cannot be addressed is excluded with its reason.
"""

import re
from dataclasses import dataclass

from email_validator import SPECIAL_USE_DOMAIN_NAMES as _SPECIAL_USE
from email_validator import EmailNotValidError, validate_email

MAX_ADDRESS = 254  # characters, RFC 5321 with its erratum
MAX_LOCAL = 64  # of them before the @

# What the validator accepts for certain, so that most addresses need no second look.
_ATOM = r"[\w!#$%&'*+/=?^`{|}~-]+"
_PLAIN = re.compile(
    rf"(?P<local>{_ATOM}(?:\.{_ATOM})*)"
    r"@(?P<domain>(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+(?P<top>[a-z]{2,63}))",
    re.ASCII | re.IGNORECASE,
)
_SPECIAL_TOPS = frozenset(name.rpartition(".")[2] for name in _SPECIAL_USE)

# Every C0 and C1 control, DEL, both Unicode line ends, and surrogates, which cannot be encoded at all.
_NOT_IN_A_HEADER = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_NOT_IN_A_NAME = re.compile(r'[<>@,;:"\\]')
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"')
# What spreadsheets and web pages leave around an address and nobody sees: spaces of any kind, joiners, marks.
_AROUND = (
    " \t\r\n\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u200b\u200c\u200d\u200e"
    "\u200f\u202f\u205f\u2060\u3000\ufeff"
)
_TWO = re.compile(r"@[^@<>\"]*[,;\s]+[^@]*@|@.*>.*<.*@", re.DOTALL)
_ESCAPED = re.compile(r"\\(.)")
_MERGED_NAME = "The name holds a merge field. It is the same for everybody, so write it out."
_MERGED = "The address holds a merge field. Write the address itself."


@dataclass(frozen=True, slots=True)
class Address:
    """An address that can be written on an envelope: pure ASCII, its domain in lower case (IDNA)."""

    normal: str

    @property
    def domain(self) -> str:
        """The part after the @."""
        return self.normal.rpartition("@")[2]

    @property
    def dedupe_key(self) -> str:
        """Equal for two addresses that nearly every server delivers to one person."""
        return self.normal.lower()


@dataclass(frozen=True, slots=True)
class Mailbox:
    """An address with the name to show for it, which may be empty."""

    name: str
    address: Address


@dataclass(frozen=True, slots=True)
class Refused:
    """Why not, in a sentence or two."""

    reason: str


def check_address(text: str) -> Address | Refused:
    """The address that `text` is, or why mail cannot be addressed to it; asks no name server."""
    if normal := _surely_good(text):
        return Address(normal)
    if "{{" in text or "}}" in text:
        return Refused(_MERGED)
    if reason := _common_slip(text):
        return Refused(reason)
    try:
        valid = validate_email(text, allow_smtputf8=False, check_deliverability=False, strict=True)
    except EmailNotValidError as error:
        return Refused(str(error))
    return Address(f"{text.rpartition('@')[0]}@{valid.ascii_domain}")


def _surely_good(text: str) -> str | None:
    """The normal form of a plain ASCII address; None leaves the answer to the validator."""
    # "--" may be IDNA, which takes more than a pattern; braces may be a merge field, which no envelope fills.
    if len(text) > MAX_ADDRESS or "--" in text or "{{" in text or "}}" in text:
        return None
    plain = _PLAIN.fullmatch(text)
    if plain is None or len(plain["local"]) > MAX_LOCAL or plain["top"].lower() in _SPECIAL_TOPS:
        return None
    return f"{plain['local']}@{plain['domain'].lower()}"


def _common_slip(text: str) -> str | None:
    """Our own words for what goes wrong most, which are shorter than the validator's."""
    if not text.strip():
        return "There is no address."
    if len(text) > MAX_ADDRESS:
        return f"The address is longer than {MAX_ADDRESS} characters."
    if reason := check_header(text):
        return reason
    if any(character.isspace() for character in text):
        return "The address has a space in it."
    if text.count("@") == 0:
        return "The address has no @."
    return None


def check_mailbox(text: str) -> Mailbox | Refused:
    """`ann@shop.example`, `Ann <ann@shop.example>` or `"Ann, Shop" <ann@shop.example>`, or why it is none."""
    if reason := check_header(text):
        return Refused(reason)
    if "{{" in text or "}}" in text:
        return Refused(_MERGED if text.find("{{") > text.find("<") else _MERGED_NAME)
    name, address_text = "", text
    if text.endswith(">"):
        before, bracket, address_text = text[:-1].rpartition("<")
        if not bracket:
            return Refused("The address ends with > but has no < before it.")
        name = before.strip()
    if quoted := _QUOTED.fullmatch(name):
        name = _ESCAPED.sub(r"\1", quoted[1]).strip()
    elif _NOT_IN_A_NAME.search(name):
        return Refused('The name has a character that needs quotes. Write "Name" <address>.')
    address = check_address(address_text)
    return address if isinstance(address, Refused) else Mailbox(name, address)


def plain_recipient(text: str) -> str | None:
    """The quick half of `check_recipient`: the normal form of what is plainly an address, and None for all else."""
    return None if "{" in text else _surely_good(text)


def check_recipient(text: str) -> Address | Refused:
    """The address of a cell of a list: with a name before it or spaces around it too, but never two of them."""
    if normal := plain_recipient(text):
        return Address(normal)
    bare = text.strip(_AROUND)
    if "{{" in bare or "}}" in bare:
        return Refused(_MERGED)
    if _TWO.search(bare):
        return Refused("There is more than one address here. Give each a row of its own.")
    if not bare.endswith(">"):
        return check_address(bare)
    mailbox = check_mailbox(bare)
    return mailbox if isinstance(mailbox, Refused) else mailbox.address


def check_header(text: str) -> str | None:
    """None if `text` may stand in a header field; otherwise why not: it could start a line of its own."""
    if bad := _NOT_IN_A_HEADER.search(text):
        return f"The character U+{ord(bad[0]):04X} is a control character or line break; take it out."
    return None
