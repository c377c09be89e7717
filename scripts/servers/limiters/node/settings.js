// The arguments of the servers, and their answers.
const [port, count, windowSeconds, option] = process.argv.slice(2);

module.exports = {
  port: Number(port),
  count: Number(count),
  windowSeconds: Number(windowSeconds),
  option, // of the limiter, such as the form of its headers
  key: (headers) => headers['x-api-key'],
  usage: { plan: 'test', remaining: 'unlimited' },
  answer: { taxonomy_v3: [{ value: 'Arts', confidence: 0.5 }] },
  latency: () => new Promise((done) => setTimeout(done, 20)),
};
