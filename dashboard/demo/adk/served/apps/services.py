"""Loaded by ADK when it starts: the services that it does not have itself, by the scheme of their URI."""

from typing import Any

from google.adk.cli.service_registry import get_service_registry
from reference.inside.artifacts import S3ArtifactService
from reference.inside.memory import PostgresMemoryService


def _memory(uri: str, **_: Any) -> PostgresMemoryService:
    return PostgresMemoryService(uri)


def _artifacts(uri: str, **_: Any) -> S3ArtifactService:
    return S3ArtifactService(uri)


get_service_registry().register_memory_service("postgresql", _memory)
get_service_registry().register_artifact_service("s3", _artifacts)
