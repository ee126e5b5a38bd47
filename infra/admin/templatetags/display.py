"""The cells of infra/admin/display.py, for templates."""

from django import template

from infra.admin.display import age, chip

register = template.Library()
register.filter(age)
register.filter(chip)
