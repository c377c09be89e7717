// express-rate-limit: a fixed window that begins with a client's first request. The option is the form of its headers.
const express = require('express');
const { rateLimit } = require('express-rate-limit');
const s = require('./settings');

const limiter = rateLimit({
  windowMs: s.windowSeconds * 1000,
  limit: s.count,
  keyGenerator: (request) => s.key(request.headers),
  standardHeaders: s.option === 'legacy' ? false : s.option,
  legacyHeaders: s.option === 'legacy',
});

express()
  .get('/api/usage', (_, response) => response.json(s.usage))
  .get('/api/v1/website/categorization', limiter, async (_, response) => {
    await s.latency();
    response.json(s.answer);
  })
  .listen(s.port, '127.0.0.1');
