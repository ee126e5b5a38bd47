"""SQL on the table of images, for the jobs and actions of other apps."""

from infra.jobs.walk import Table

# The JSON of an Attachment. images_attach (accounts/images/functions.sql) builds the same.
ATTACHMENT = """jsonb_build_object('id', id, 'token', coalesce(public_token, token), 'facts', facts,
    'description', description, 'focus', jsonb_build_array(focus_x, focus_y),
    'is_hidden', hidden_at IS NOT NULL)"""
# All images of an account that are not being removed, for the job that deletes the account.
KEPT_IMAGES = Table(
    "images_storedimage", ("owner_id", "id"), where="remove_after IS NULL OR remove_after > now()"
)
