"""The reference service: a small Google ADK app with a scripted model, for the demo and for tests.

`apps` is what `adk api_server` serves, `reference` what the apps are made of. Both run in an environment of their own
(dashboard.demo.adk_environment), with this folder as the working directory; nothing of the product is imported there.
Only `apps` and `reference.inside` import google-adk, so only they are left out of the type check.
"""
