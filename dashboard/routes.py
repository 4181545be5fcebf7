"""The addresses on which something is decided, within a workspace."""

from django.urls import URLPattern

decide_routes: list[URLPattern] = []
