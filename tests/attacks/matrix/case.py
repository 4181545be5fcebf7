"""One attack on one guard, as data."""

from dataclasses import dataclass

BY_KIND = {
    "body": "0 rows",
    "rls": "0 rows",
    "forced": "0 rows",
    "option": "0 rows",
    "policy": "0 rows",
    "constraint": "({name})",
    "index": "({name})",
    "owner": "42501 must be owner of",
    "no": "42501 permission denied",
}


@dataclass(frozen=True, kw_only=True)
class Case:
    """An attack got through if no statement failed, at the commit neither, and the last one found or changed a row.

    It is tried three times: with everything in place through a real login of `by`, where `refusal` is what Postgres
    says; with only what is `behind` away, where it still does not get through; and with the guard away too, where it
    does. Then the doctor names the guard.
    """

    guard: str
    attack: str | tuple[str, ...]
    what: str = ""  # in words, where the guard has several
    by: str = "app"
    refusal: str = ""  # several with "|" between them
    behind: tuple[str, ...] = ()  # guards that refuse the same attack, before this one or after it
    without: str = ""  # how the guard is taken away, where that is not simply dropping it
    given: str = ""  # what a superuser does first, both with the guard and without
    workspace: str = "workspace"  # the value that the transaction is bound to; "" for no workspace
    subject: str = ""
    named: str = ""  # what the doctor says, where it is not the guard's own line

    @property
    def statements(self) -> tuple[str, ...]:
        return (self.attack,) if isinstance(self.attack, str) else self.attack

    def is_refused_by(self, answer: str) -> bool:
        kind, _, rest = self.guard.partition(" ")
        refusal = self.refusal or BY_KIND[kind].format(name=rest.split()[-1])
        return any(words in answer for words in refusal.split("|"))

    def __str__(self) -> str:
        return f"{self.guard}: {self.by}" + (f", {self.what}" if self.what else "")
