"""Flask-Limiter: a fixed window that begins with a client's first request; refusals are Flask's page."""

import time

import waitress
from flask import Flask, request
from flask_limiter import Limiter
from settings import ANSWER, LATENCY, PORT, RATE, SERVER, USAGE

app = Flask(__name__)
limiter = Limiter(lambda: request.headers["x-api-key"], app=app, storage_uri="memory://")


@app.get("/api/usage")
def usage():
    return USAGE


@app.get("/api/v1/website/categorization")
@limiter.limit(RATE)
def website():
    time.sleep(LATENCY)
    return ANSWER


waitress.serve(app, port=PORT, **SERVER)
