"""The API as one object: routes, authentication, and how each refusal is answered."""

from typing import Any

from django.views.decorators.http import require_safe
from ninja import NinjaAPI
from ninja.openapi.schema import OpenAPISchema
from ninja.operation import Operation

from approvals.api import problems
from approvals.api.auth import Token, within_workspace
from approvals.api.parsing import StrictParser
from approvals.api.schemas.problems import SCHEMA_PATH, Problem
from approvals.api.views import attachments, campaigns, datasets, runs

ABOUT = """
What agents and their runtimes say to Secondlook: which runs there are, what each does while it does it, and which
campaigns they propose. People decide on the pages; no call here decides for them.

**Token.** `Authorization: Bearer TOKEN`. A token belongs to one runtime of one workspace and sees that runtime's runs
and campaigns alone; one that is bound to a subject sees that subject's runs alone. Whatever it may not see is
answered with 404, just as if it did not exist.

**Bodies** are JSON in UTF-8, `Content-Type: application/json`, up to 5 MB, at most 64 levels deep. Refused are
unknown fields, a key that is there twice, NaN, NUL and half a surrogate pair anywhere, numbers beyond 64 bits, and
control characters in fields of one line. The limits of each field are in its schema. A list of recipients, and a
file to attach, are sent as the files that they are.

**Refusals** are `application/problem+json`: `code` is a stable word, `detail` a sentence, `field` the path of what is
at fault. Whatever is refused leaves nothing behind.

**Starting a run again.** When a person or the rule lets a run start again, Secondlook sends
`POST <base-url>/replays` to its runtime: `{job_id, run_id, replay_of, agent, session_id, subject, input}`, signed in
Standard Webhooks format (`webhook-id` is the job's id, `webhook-timestamp`, `webhook-signature`: `v1,` and the base64
of HMAC-SHA256 over `id.timestamp.body` with the secret that `runtime add` printed). Check the signature and that the
timestamp is near; treat a second request with the same `job_id` as the first. Answer 2xx at once, then run the agent
and report its events on `run_id`, up to `ended`. 3xx and 4xx mean that nothing was started; 5xx, a time-out (20 s) or
a broken connection leave it *in doubt* until the first event of the new run arrives.

**What became of a campaign.** A runtime with a callback address is told of each campaign that it proposed, by a POST of
`{type, timestamp, data: {id, external_id, version, status, comment, counts}}`. The `type` is `campaign.approved`,
`returned`, `rejected`, `taken_back`, `paused`, `resumed` or `stopped` when somebody decides that, `campaign.finished`
when its sending is over, `campaign.revised` when a person proposes another version of it, and `campaign.not_begun` when
a worker does not begin with what was approved; then `data` has a `reason` too, one sentence, and `status` says whether
it waits for another decision (`pending`) or for somebody to let it go on (`approved`). Otherwise `data` says what
`GET /campaigns/{id}` would have said at that moment, but for `counts.lacking`. It is signed in the same way;
`webhook-id` is the callback's. Answer 2xx at once (within 10 s). Anything else is tried again, after 10 s, 1 min,
5 min, 30 min, 2 h and 8 h, with the same id and body; 410 ends it. So the same id may come twice, and the second time
is nothing new. Of one campaign they come in order. Without an address, ask `GET /campaigns/{id}`.

**Repeating is safe.** The same run, event or campaign again changes nothing and says so. A run or event with other
content is answered with 409. A campaign with other content is its next version; 409 once it is finished or rejected, or
where the body is that of a version which another one took the place of. A new one whose `send_by` is over, by more than
a minute, is refused with 422; one that is known stays known. After a time-out, just send it again.
"""


class MachineAPI(NinjaAPI):
    """NinjaAPI, with short operation ids and the form of a refusal in its OpenAPI document."""

    def get_openapi_operation_id(self, operation: Operation) -> str:
        """The view's name."""
        return operation.view_func.__name__

    def get_openapi_schema(self, **where: Any) -> OpenAPISchema:
        """The OpenAPI 3.1 document."""
        document = super().get_openapi_schema(**where)
        problem = Problem.model_json_schema(ref_template=SCHEMA_PATH)
        document["components"]["schemas"] |= problem.pop("$defs") | {"Problem": problem}
        return document


api = MachineAPI(
    title="Secondlook machine API",
    version="1",
    description=ABOUT,
    auth=Token(),
    parser=StrictParser(),
    urls_namespace="machine",
    docs_decorator=require_safe,
)
api.add_decorator(within_workspace)
problems.install(api)
api.add_router("", runs.router)
api.add_router("", campaigns.router)
api.add_router("", datasets.router)
api.add_router("", attachments.router)
