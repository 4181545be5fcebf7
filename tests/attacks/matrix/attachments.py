"""Files that are attached: what a version has sealed is what it sends, within what a worker can hold."""

from tests.attacks.matrix.case import Case
from tests.attacks.matrix.rows import insert

NAMED = "constraint approvals_versionattachment versionattachment_filename_is_a_name"
TYPED = "constraint approvals_versionattachment versionattachment_type_is_plain"
NAMES = {
    "begin a header field of its own": "E'x\\r\\nBcc: eve@x.example'",
    "name a folder": "'../../eve'",
    "turn how it reads": "U&'invoice\\202Efdp.exe'",
    "have no name": "''",
    "have an endless name": "repeat('e', 151)",
}
TYPES = {
    "begin a header field of its own": "E'text/plain\\r\\nBcc: eve@x.example'",
    "bring parameters along": "'text/plain; name=eve.exe'",
    "attach a mail within the mail": "'message/rfc822'",
    "have no type": "''",
}

CASES = (
    Case(
        guard="constraint approvals_attachment attachment_runtime_same_workspace",
        attack=insert("attachment", runtime_id="%(b_runtime)s"),
    ),
    Case(
        guard="constraint approvals_attachment attachment_once",
        what="send the same file twice",
        attack=insert("attachment", sha256="repeat('b', 64)"),
        refusal="23505 duplicate key",
    ),
    Case(
        guard="constraint approvals_attachment attachment_once",
        what="send a person's file twice",
        attack=insert("attachment", sha256="repeat('a', 64)", runtime_id="null"),
        refusal="23505 duplicate key",
    ),
    Case(
        guard="constraint approvals_attachment attachment_sha256_is_hex",
        attack=insert("attachment", sha256="'../../eve'"),
    ),
    Case(
        guard="constraint approvals_attachment attachment_size_bounded",
        what="send an empty file",
        attack=insert("attachment", size="0"),
    ),
    Case(
        guard="constraint approvals_attachment attachment_size_bounded",
        what="send a file of any size",
        attack=insert("attachment", size="10485761"),
    ),
    Case(
        guard="trigger approvals_attachment attachment_append_only",
        what="have other bytes under the id of a file",
        by="owner",
        attack="update approvals_attachment set sha256 = repeat('e', 64) where id = %(attachment)s",
        refusal="append-only|refused",
    ),
    Case(
        guard="constraint approvals_versionattachment versionattachment_version_same_workspace",
        attack=insert("versionattachment", version_id="%(b_draft)s"),
    ),
    Case(
        guard="constraint approvals_versionattachment versionattachment_file_same_workspace",
        attack=insert("versionattachment", attachment_id="%(b_attachment)s"),
    ),
    Case(
        guard="constraint approvals_versionattachment versionattachment_position_once",
        what="have two files in one place",
        attack=insert("versionattachment", position="1"),
        refusal="23505 duplicate key",
    ),
    Case(
        guard="constraint approvals_versionattachment versionattachment_few",
        what="attach eleven files",
        attack=insert("versionattachment", position="11"),
    ),
    *(
        Case(guard=NAMED, what=what, attack=insert("versionattachment", filename=name))
        for what, name in NAMES.items()
    ),
    *(
        Case(guard=TYPED, what=what, attack=insert("versionattachment", content_type=type))
        for what, type in TYPES.items()
    ),
    Case(
        guard="trigger approvals_versionattachment versionattachment_before_seal",
        what="D08: attach a file to what was approved without it",
        attack=insert("versionattachment", version_id="%(version)s"),
        refusal="(version_sealed)",
    ),
    Case(
        guard="trigger approvals_versionattachment versionattachment_append_only",
        what="D08: attach another file than was approved",
        by="owner",
        attack="update approvals_versionattachment set attachment_id = %(heavy)s where version_id = %(draft)s",
        refusal="append-only|refused",
    ),
    Case(
        guard="trigger approvals_versionattachment versionattachment_append_only",
        what="lose a file",
        by="owner",
        attack="delete from approvals_versionattachment where version_id = %(draft)s",
        refusal="append-only|refused",
    ),
    Case(
        guard="trigger approvals_versionattachment versionattachment_bounded",
        what="attach more than a worker can hold",
        attack=insert("versionattachment", attachment_id="%(heavy)s"),
        refusal="(versionattachment_bounded)",
    ),
)
