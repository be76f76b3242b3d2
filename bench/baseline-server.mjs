// @ts-check
/**
 * The baseline of the agent: bare `node:http`, also in a process of its own. It does the least that answers
 * a request of each kind. It is JavaScript, so that stripping types costs neither time nor memory.
 */
import { spawn } from 'node:child_process';
import { createServer } from 'node:http';

/** @type {import('./baseline.ts').BaselineOptions} */
const options = JSON.parse(process.argv[2] ?? '{"headers":{},"body":""}');
const body = Buffer.from(options.body);
/** @type {import('node:http').ServerResponse[]} */
const parked = [];

/** @param {import('node:http').ServerResponse} response */
function answer(response) {
  response.writeHead(200, { ...options.headers, 'content-length': body.length }).end(body);
}

const server = createServer((request, response) => {
  if (request.url === '/park') {
    parked.push(response);
  } else if (request.url === '/parked') {
    const text = String(parked.length);
    response.writeHead(200, { 'content-length': text.length }).end(text);
  } else if (request.url === '/wake') {
    answer(response);
    for (const waiting of parked.splice(0)) answer(waiting);
  } else if (request.method === 'POST') {
    receive(request, (text) => startWhatIsNamed(JSON.parse(text), response));
  } else {
    answer(response);
  }
});

/**
 * @param {{ command?: string, args?: string[] }} named
 * @param {import('node:http').ServerResponse} response
 */
function startWhatIsNamed({ command, args = [] }, response) {
  if (command === undefined) return answer(response);
  const child = spawn(command, args, { stdio: 'ignore' });
  child.once('spawn', () => {
    answer(response);
    child.kill('SIGKILL');
  });
}

/**
 * @param {import('node:http').IncomingMessage} request
 * @param {(text: string) => void} done
 */
function receive(request, done) {
  /** @type {Buffer[]} */
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => done(Buffer.concat(chunks).toString()));
}

server.keepAliveTimeout = 75_000;
server.listen({ host: '127.0.0.1', port: 0, backlog: 4096 }, () => {
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  process.stdout.write(`ready at http://127.0.0.1:${port}\n`);
});
// The harness holds the other end: without it there is nobody to answer.
process.stdin.resume().on('end', () => process.exit());
