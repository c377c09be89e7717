// @fastify/rate-limit: a fixed window that begins with a client's first request. Refused requests count; the option
// is the number of refusals after which refusals are 403.
const fastify = require('fastify');
const s = require('./settings');

async function main() {
  const app = fastify();
  await app.register(require('@fastify/rate-limit'), {
    global: false,
    max: s.count,
    timeWindow: s.windowSeconds * 1000,
    keyGenerator: (request) => s.key(request.headers),
    ban: Number(s.option),
  });
  app.get('/api/usage', async () => s.usage);
  app.get('/api/v1/website/categorization', { config: { rateLimit: {} } }, async () => {
    await s.latency();
    return s.answer;
  });
  await app.listen({ port: s.port, host: '127.0.0.1' });
}

main();
