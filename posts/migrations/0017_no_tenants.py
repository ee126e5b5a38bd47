"""A second tenant gets databases of its own, so no row names a tenant.

The columns stay for old code, with a default of the database. A second step removes them. Old code
calls the old function of the import.
"""

from django.db import migrations, models

from infra.sharding.sql import functions_of

# Old code finds a type and a reaction by both columns when it declares one.
DECLARED = """
ALTER TABLE posts_posttype
    DROP CONSTRAINT posts_posttype_pkey,
    ADD PRIMARY KEY (name),
    ADD UNIQUE (tenant, name);
ALTER TABLE posts_reaction
    DROP CONSTRAINT posts_reaction_pkey,
    ADD PRIMARY KEY (number),
    ADD UNIQUE (name);
"""
NAME = models.CharField(max_length=64, primary_key=True, serialize=False)


class Migration(migrations.Migration):
    dependencies = [("posts", "0016_notifying_reactions")]

    operations = [
        migrations.RunSQL(
            DECLARED,
            migrations.RunSQL.noop,
            state_operations=[
                migrations.RemoveConstraint("reaction", "reaction_name"),
                *(
                    migrations.RemoveField(model, field)
                    for model in ("posttype", "reaction")
                    for field in ("pk", "tenant")
                ),
                migrations.AlterField("posttype", "name", NAME),
                migrations.AlterField(
                    "reaction",
                    "number",
                    models.SmallIntegerField(primary_key=True, serialize=False),
                ),
                migrations.AlterField(
                    "reaction", "name", models.CharField(max_length=32, unique=True)
                ),
            ],
            hints={"placement": "global"},
        ),
        migrations.RunSQL(
            functions_of("posts"), migrations.RunSQL.noop, hints={"placement": "sharded"}
        ),
    ]
