"""django-ratelimit: fixed windows by the clock, shifted by a checksum of the key; refusals are 403 by default."""

import time

import waitress
from django.conf import settings
from django.core.wsgi import get_wsgi_application
from django.http import HttpResponse, JsonResponse
from django.urls import path
from settings import ANSWER, LATENCY, PORT, RATE, SERVER, STATUS, USAGE

# The limiter objects to a cache in the process, which several processes do not share. This server is one process.
settings.configure(
    ROOT_URLCONF=__name__,
    ALLOWED_HOSTS=["*"],
    SECRET_KEY="none",
    SILENCED_SYSTEM_CHECKS=["django_ratelimit.E003", "django_ratelimit.W001"],
)
application = get_wsgi_application()

from django_ratelimit.decorators import ratelimit  # noqa: E402 (it reads the settings)


def usage(request):
    return JsonResponse(USAGE)


@ratelimit(key="header:x-api-key", rate=RATE)
def website(request):
    time.sleep(LATENCY)
    return JsonResponse(ANSWER)


def refusal(request, exception):
    return HttpResponse("Too many requests", status=STATUS)


urlpatterns = [path("api/usage", usage), path("api/v1/website/categorization", website)]
if STATUS:
    handler403 = refusal

waitress.serve(application, port=PORT, **SERVER)
