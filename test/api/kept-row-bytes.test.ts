/** The bytes of a kept row on a connection: they go out as a text together with the headers. */
import { connect } from 'node:net';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Agent, createAgent } from '../../src/agent.ts';
import { eventually } from '../../src/node/eventually.test-helper.ts';
import { jobBody, rootToken } from '../support/api.ts';

let agent: Agent;
beforeAll(async () => {
  agent = await createAgent({ http: { host: '127.0.0.1', port: 0 }, rootToken, node: undefined });
});
afterAll(() => agent.close('stop'));

interface Got {
  readonly head: string;
  readonly body: Buffer;
}

/** Sends requests at once over one connection, and takes the bytes of all answers apart. */
function ask(lines: readonly string[]): Promise<readonly Got[]> {
  const { hostname, port } = new URL(agent.address);
  const socket = connect({ host: hostname, port: Number(port) });
  const parts: Buffer[] = [];
  socket.on('data', (part) => parts.push(part));
  const requests = lines.map((line, at) => {
    const fate = at === lines.length - 1 ? 'connection: close\r\n' : '';
    const [first, ...headers] = line.split('\n');
    const more = headers.map((one) => `${one}\r\n`).join('');
    return `${first}\r\nhost: roster\r\nx-registry-token: ${rootToken}\r\n${more}${fate}\r\n`;
  });
  socket.write(requests.join(''));
  return new Promise((resolve, reject) => {
    socket.on('error', reject);
    socket.on('close', () => resolve(answersIn(Buffer.concat(parts), lines)));
  });
}

function answersIn(bytes: Buffer, lines: readonly string[]): readonly Got[] {
  const found: Got[] = [];
  let left = bytes;
  for (const line of lines) {
    const end = left.indexOf('\r\n\r\n') + 4;
    const head = left.toString('latin1', 0, end);
    const length = line.startsWith('HEAD') ? 0 : Number(/content-length: (\d+)/i.exec(head)?.[1]);
    found.push({ head, body: left.subarray(end, end + length) });
    left = left.subarray(end + length);
  }
  expect(left.length).toBe(0);
  return found;
}

const lengthIn = ({ head }: Got) => Number(/content-length: (\d+)/i.exec(head)?.[1]);

test.each([
  ['short', 'plain'],
  ['of many bytes a character', 'ä€😀\u2028"\\'],
  ['long', 'ö'.repeat(30_000)],
])('a job with a text that is %s has the same bytes however it is asked for', async (id, text) => {
  const name = id.split(' ').at(-1)!;
  const headers = { 'x-registry-token': rootToken };
  const body = JSON.stringify(jobBody({ ID: name, Meta: { text } }, { Count: 0 }));
  const registered = await fetch(`${agent.address}/v1/jobs`, { method: 'POST', headers, body });
  expect(registered.status).toBe(200);
  // From then on the row stays as it is.
  await eventually(async () => {
    const answer = await fetch(`${agent.address}/v1/job/${name}/evaluations`, { headers });
    const evaluations = (await answer.json()) as readonly { readonly Status: string }[];
    expect(evaluations.map(({ Status }) => Status)).toEqual(['complete']);
  });
  const path = `/v1/job/${name}`;
  const get = `GET ${path} HTTP/1.1`;
  const lines = [get, get, `HEAD ${path} HTTP/1.1`, `${get}\naccept-encoding: gzip`, get];
  const [first, again, head, packed, last] = await ask(lines);
  const [old] = await ask([`GET ${path} HTTP/1.0`]);
  expect(JSON.parse(first!.body.toString()).Meta).toEqual({ text });
  const isPacked = /content-encoding: gzip/i.test(packed!.head);
  const unpacked = isPacked ? gunzipSync(packed!.body) : packed!.body;
  for (const bytes of [again!.body, unpacked, last!.body, old!.body]) {
    expect(bytes.equals(first!.body)).toBe(true);
  }
  expect(lengthIn(head!)).toBe(first!.body.length);
});
