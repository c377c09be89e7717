// hono-rate-limiter: a fixed window that begins with a client's first request. The option is the form of its headers.
const { serve } = require('@hono/node-server');
const { Hono } = require('hono');
const { rateLimiter } = require('hono-rate-limiter');
const s = require('./settings');

const limiter = rateLimiter({
  windowMs: s.windowSeconds * 1000,
  limit: s.count,
  keyGenerator: (c) => c.req.header('x-api-key'),
  standardHeaders: s.option,
});

const app = new Hono()
  .get('/api/usage', (c) => c.json(s.usage))
  .get('/api/v1/website/categorization', limiter, async (c) => {
    await s.latency();
    return c.json(s.answer);
  });
serve({ fetch: app.fetch, port: s.port, hostname: '127.0.0.1' });
