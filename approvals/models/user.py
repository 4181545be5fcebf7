"""A person who can sign in. What they may do is in their memberships."""

from typing import ClassVar

from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.db import models
from django.db.models.functions import Lower, Now


class UserManager(BaseUserManager["User"]):
    """Makes users; an e-mail address is one person in any spelling of case."""

    def create_user(self, email: str, password: str | None = None, *, name: str = "") -> "User":
        """A new user, stored. Without a password nobody can sign in as this person."""
        user = self.model(email=email.strip().lower(), name=name)
        user.set_password(password)
        user.save(using=self._db)
        return user

    def get_by_natural_key(self, username: str | None) -> "User":
        """The user with this e-mail address, in any case."""
        return self.get(email__iexact=username)


class User(AbstractBaseUser):
    """A person, known by e-mail address."""

    email = models.EmailField(max_length=254, unique=True)
    name = models.CharField(max_length=200, blank=True, default="")
    is_active = models.BooleanField(default=True)
    created_at = models.DateTimeField(db_default=Now(), editable=False)

    USERNAME_FIELD = "email"
    EMAIL_FIELD = "email"
    REQUIRED_FIELDS: ClassVar[list[str]] = []

    objects: ClassVar[UserManager] = UserManager()

    class Meta:
        constraints = [models.UniqueConstraint(Lower("email"), name="user_email_once")]

    def __str__(self) -> str:
        return self.name or self.email
