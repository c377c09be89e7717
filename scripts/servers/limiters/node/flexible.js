// rate-limiter-flexible: a fixed window, and a block of ten seconds after a refusal. The option is "silent" or "stated".
const express = require('express');
const { RateLimiterMemory } = require('rate-limiter-flexible');
const s = require('./settings');

const limiter = new RateLimiterMemory({ points: s.count, duration: s.windowSeconds, blockDuration: 10 });

async function limit(request, response, next) {
  try {
    await limiter.consume(s.key(request.headers));
    next();
  } catch (refusal) {
    if (s.option === 'stated') response.set('Retry-After', Math.ceil(refusal.msBeforeNext / 1000));
    response.status(429).send('Too Many Requests');
  }
}

express()
  .get('/api/usage', (_, response) => response.json(s.usage))
  .get('/api/v1/website/categorization', limit, async (_, response) => {
    await s.latency();
    response.json(s.answer);
  })
  .listen(s.port, '127.0.0.1');
