"""A second tenant gets databases of its own, so no row names a tenant.

The column stays for old code, with a default of the database. A second step removes it.
"""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("integrations", "0002_first_tenant")]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[migrations.RemoveField("webhook", "tenant")]
        ),
    ]
