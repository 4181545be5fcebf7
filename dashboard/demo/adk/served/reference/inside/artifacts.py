"""Artifacts in a store that speaks S3: an object for each version, under app, user and session.

The URI is `s3://BUCKET/PREFIX?endpoint=URL`; credentials and region come from the AWS_ variables of the environment.
"""

import asyncio
from typing import Any
from urllib.parse import parse_qs, quote, unquote, urlparse

import boto3
from botocore.exceptions import ClientError
from google.adk.artifacts.base_artifact_service import ArtifactVersion, BaseArtifactService, ensure_part
from google.genai import types

OF_USER = "user"  # where artifacts live that belong to a user and to no session
SCOPE = "user:"  # how ADK marks their names


class S3ArtifactService(BaseArtifactService):
    """One bucket, made where it is missing. A version counts up from 0."""

    def __init__(self, uri: str) -> None:
        parsed = urlparse(uri)
        self._bucket = parsed.netloc
        self._prefix = parsed.path.strip("/")
        endpoint = parse_qs(parsed.query).get("endpoint", [None])[0]
        self._client = boto3.client("s3", endpoint_url=endpoint)
        self._is_ready = False

    async def save_artifact(
        self,
        *,
        app_name: str,
        user_id: str,
        filename: str,
        artifact: types.Part | dict[str, Any],
        session_id: str | None = None,
        custom_metadata: dict[str, Any] | None = None,
    ) -> int:
        """Store one more version; its number."""
        part = ensure_part(artifact)
        folder = self._folder(app_name, user_id, session_id, filename)
        data, kind = _bytes(part)
        metadata = {name: quote(str(value)) for name, value in (custom_metadata or {}).items()}

        def save() -> int:
            self._make_bucket()
            version = max(self._versions(folder), default=-1) + 1
            self._client.put_object(
                Bucket=self._bucket, Key=f"{folder}{version}", Body=data, ContentType=kind, Metadata=metadata
            )
            return version

        return await asyncio.to_thread(save)

    async def load_artifact(
        self,
        *,
        app_name: str,
        user_id: str,
        filename: str,
        session_id: str | None = None,
        version: int | None = None,
    ) -> types.Part | None:
        """One version, by default the latest; None where there is none."""
        folder = self._folder(app_name, user_id, session_id, filename)

        def load() -> types.Part | None:
            number = max(self._versions(folder), default=None) if version is None else version
            found = None if number is None else self._get(f"{folder}{number}")
            if found is None:
                return None
            return types.Part.from_bytes(data=found["Body"].read(), mime_type=found["ContentType"])

        return await asyncio.to_thread(load)

    async def list_artifact_keys(
        self, *, app_name: str, user_id: str, session_id: str | None = None
    ) -> list[str]:
        """The names of a session's artifacts and of its user's."""

        def names() -> list[str]:
            found = {SCOPE + name for name in self._names(self._scope(app_name, user_id, None))}
            if session_id is not None:
                found |= self._names(self._scope(app_name, user_id, session_id))
            return sorted(found)

        return await asyncio.to_thread(names)

    async def delete_artifact(
        self, *, app_name: str, user_id: str, filename: str, session_id: str | None = None
    ) -> None:
        """Delete every version."""
        folder = self._folder(app_name, user_id, session_id, filename)

        def delete() -> None:
            for key in self._keys(folder):
                self._client.delete_object(Bucket=self._bucket, Key=key)

        await asyncio.to_thread(delete)

    async def list_versions(
        self, *, app_name: str, user_id: str, filename: str, session_id: str | None = None
    ) -> list[int]:
        """The numbers of the versions, smallest first."""
        return await asyncio.to_thread(self._versions, self._folder(app_name, user_id, session_id, filename))

    async def list_artifact_versions(
        self, *, app_name: str, user_id: str, filename: str, session_id: str | None = None
    ) -> list[ArtifactVersion]:
        """The versions with what is known about each."""
        folder = self._folder(app_name, user_id, session_id, filename)
        numbers = await asyncio.to_thread(self._versions, folder)
        found = [await asyncio.to_thread(self._version, folder, number) for number in numbers]
        return [one for one in found if one is not None]

    async def get_artifact_version(
        self,
        *,
        app_name: str,
        user_id: str,
        filename: str,
        session_id: str | None = None,
        version: int | None = None,
    ) -> ArtifactVersion | None:
        """What is known about one version, by default the latest; None where there is none."""
        folder = self._folder(app_name, user_id, session_id, filename)
        numbers = await asyncio.to_thread(self._versions, folder)
        number = max(numbers, default=-1) if version is None else version
        return await asyncio.to_thread(self._version, folder, number) if number in numbers else None

    def _scope(self, app_name: str, user_id: str, session_id: str | None) -> str:
        place = [OF_USER] if session_id is None else ["session", quote(session_id, safe="")]
        return "/".join(
            [*filter(None, [self._prefix]), quote(app_name, safe=""), quote(user_id, safe=""), *place, ""]
        )

    def _folder(self, app_name: str, user_id: str, session_id: str | None, filename: str) -> str:
        if filename.startswith(SCOPE):
            session_id, filename = None, filename.removeprefix(SCOPE)
        return f"{self._scope(app_name, user_id, session_id)}{quote(filename, safe='')}/"

    def _make_bucket(self) -> None:
        if not self._is_ready:
            try:
                self._client.head_bucket(Bucket=self._bucket)
            except ClientError:
                self._client.create_bucket(Bucket=self._bucket)
            self._is_ready = True

    def _keys(self, prefix: str) -> list[str]:
        pages = self._client.get_paginator("list_objects_v2").paginate(Bucket=self._bucket, Prefix=prefix)
        try:
            return [found["Key"] for page in pages for found in page.get("Contents", [])]
        except self._client.exceptions.NoSuchBucket:
            return []

    def _versions(self, folder: str) -> list[int]:
        return sorted(int(key.removeprefix(folder)) for key in self._keys(folder))

    def _names(self, scope: str) -> set[str]:
        return {unquote(key.removeprefix(scope).split("/")[0]) for key in self._keys(scope)}

    def _get(self, key: str) -> dict[str, Any] | None:
        try:
            return self._client.get_object(Bucket=self._bucket, Key=key)
        except (self._client.exceptions.NoSuchKey, self._client.exceptions.NoSuchBucket):
            return None

    def _version(self, folder: str, number: int) -> ArtifactVersion | None:
        found = self._get(f"{folder}{number}")
        if found is None:
            return None
        return ArtifactVersion(
            version=number,
            canonical_uri=f"s3://{self._bucket}/{folder}{number}",
            create_time=found["LastModified"].timestamp(),
            mime_type=found["ContentType"],
            custom_metadata={name: unquote(value) for name, value in found["Metadata"].items()},
        )


def _bytes(part: types.Part) -> tuple[bytes, str]:
    """What to store of an artifact, and its type. ValueError for one whose content is elsewhere."""
    if part.inline_data and part.inline_data.data is not None:
        return part.inline_data.data, part.inline_data.mime_type or "application/octet-stream"
    if part.text is not None:
        return part.text.encode(), "text/plain"
    raise ValueError("This store keeps bytes and text, not links to files elsewhere.")
