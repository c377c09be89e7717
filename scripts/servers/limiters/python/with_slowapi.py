"""slowapi in Starlette: a fixed window that begins with a client's first request."""

import asyncio

import uvicorn
from settings import ANSWER, LATENCY, PORT, RATE, USAGE
from slowapi import Limiter, _rate_limit_exceeded_handler
from slowapi.errors import RateLimitExceeded
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route

limiter = Limiter(key_func=lambda request: request.headers["x-api-key"])


async def usage(request):
    return JSONResponse(USAGE)


@limiter.limit(RATE)
async def website(request):
    await asyncio.sleep(LATENCY)
    return JSONResponse(ANSWER)


app = Starlette(routes=[Route("/api/usage", usage), Route("/api/v1/website/categorization", website)])
app.state.limiter = limiter
app.add_exception_handler(RateLimitExceeded, _rate_limit_exceeded_handler)

uvicorn.run(app, port=PORT, access_log=False)
