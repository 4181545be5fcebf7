"""The addresses on which something is decided, within a workspace."""

from django.urls import URLPattern, path

from dashboard.views import in_place, jobs, runs

decide_routes: list[URLPattern] = [
    path("runs/<uuid:run_id>/", runs.page, name="run"),
    path("runs/<uuid:run_id>/replay", runs.replay, name="run_replay"),
    path("runs/<uuid:run_id>/force", runs.force, name="run_force"),
    path("runs/<uuid:run_id>/declare-interrupted", runs.declare_interrupted, name="run_declare_interrupted"),
    path("runs/<uuid:run_id>/dismiss", runs.dismiss, name="run_dismiss"),
    path("runs/<uuid:run_id>/reopen", runs.reopen, name="run_reopen"),
    path("runs/<uuid:run_id>/resolve-call", runs.resolve_call, name="run_resolve_call"),
    path("runs/<uuid:run_id>/answer-calls", in_place.answer_calls, name="run_answer_calls"),
    path("runs/<uuid:run_id>/confirm-call", in_place.confirm_call, name="run_confirm_call"),
    path("runs/<uuid:run_id>/reject-call", in_place.reject_call, name="run_reject_call"),
    path("jobs/<uuid:job_id>/", jobs.progress, name="job"),
    path("jobs/<uuid:job_id>/cancel", jobs.cancel, name="job_cancel"),
    path("jobs/<uuid:job_id>/stop", jobs.stop, name="job_stop"),
    path("jobs/<uuid:job_id>/resume", jobs.resume, name="job_resume"),
    path("jobs/<uuid:job_id>/resume-send", jobs.resume_send, name="job_resume_send"),
    path("jobs/<uuid:job_id>/give-up", jobs.give_up, name="job_give_up"),
    path("jobs/<uuid:job_id>/resolve", jobs.resolve, name="job_resolve"),
]
