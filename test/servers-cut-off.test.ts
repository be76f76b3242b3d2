/** A server that is cut off from the log: every answer that lasts ends when its state is too old. */
import { afterEach, expect, test } from 'vitest';
import { type RunningNode, startNode } from '../src/agent-node.ts';
import { minuteMs } from '../src/base/units.ts';
import { openExecSocket } from './support/exec-socket.ts';
import { JumpingWorld } from './support/jumping-world.ts';
import { type ClusterServer, call, ServerCluster } from './support/server-cluster.ts';
import { openUiSocket } from './support/ui-stream.ts';

let cluster: ServerCluster;
let node: RunningNode | undefined;
const gone = new AbortController();

afterEach(async () => {
  gone.abort();
  await node?.close('stop');
  await cluster?.close();
});

const talking = {
  Job: {
    ID: 'talk',
    Datacenters: ['dc1'],
    TaskGroups: [
      {
        Name: 'g',
        Tasks: [
          {
            Name: 't',
            Driver: 'raw_exec',
            Config: { command: '/bin/sh', args: ['-c', 'echo hello; exec sleep 600'] },
          },
        ],
      },
    ],
  },
};

/** An answer that lasts. */
interface Lasting {
  readonly isOpen: () => boolean;
  /** Resolves with the text of all that was told. */
  readonly ended: Promise<string>;
}

interface Place {
  readonly server: ClusterServer;
  readonly secret: string;
  readonly allocation: string;
}

function lasting(ended: Promise<string>): Lasting {
  let isOpen = true;
  const over = () => {
    isOpen = false;
  };
  ended.then(over, over);
  return { isOpen: () => isOpen, ended };
}

/** A body over HTTP, of which something was told. */
async function body({ server, secret }: Place, path: string, told: RegExp): Promise<Lasting> {
  const { signal } = gone;
  const headers = { 'x-registry-token': secret };
  const answer = await fetch(`${server.agent.address}${path}`, { headers, signal });
  let text = '';
  const ended = (async () => {
    try {
      for await (const part of answer.body!) text += Buffer.from(part).toString();
    } catch {
      // The body is cut off.
      return `${text} cut off`;
    }
    return text;
  })();
  await expect.poll(() => text).toMatch(told);
  return lasting(ended);
}

async function exec({ server, secret, allocation }: Place): Promise<Lasting> {
  const command = encodeURIComponent(JSON.stringify(['/bin/sh', '-c', 'echo ready; exec cat']));
  const path = `/v1/client/allocation/${allocation}/exec?task=t&command=${command}`;
  const socket = openExecSocket(`${server.agent.address}${path}`, { 'x-registry-token': secret });
  await socket.says(/ready/);
  return lasting(socket.closed.then(({ code, reason }) => `${code} ${reason}`));
}

/** A command whose client goes on sending, and never closes its side. */
async function stubbornExec({ server, secret, allocation }: Place): Promise<Lasting> {
  const command = encodeURIComponent(JSON.stringify(['/bin/sh', '-c', 'echo pid $$; exec cat']));
  const path = `/v1/client/allocation/${allocation}/exec?task=t&command=${command}`;
  const { says, socket, closed } = openExecSocket(`${server.agent.address}${path}`, {
    'x-registry-token': secret,
  });
  const pid = Number((await says(/pid (\d+)/))[1]);
  socket.pause();
  closed.catch(() => {});
  return { isOpen: () => isAlive(pid), ended: Promise.resolve('the command has ended') };
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

async function page({ server, secret }: Place): Promise<Lasting> {
  const ui = openUiSocket(server.agent.address!, { token: secret });
  ui.send({ kind: 'watch', id: 1, path: '/v1/namespaces', has: '' });
  await ui.hears(({ kind, id }) => kind === 'value' && id === 1);
  return lasting(ui.closed.then(({ code, reason }) => `${code} ${reason}`));
}

async function blockingQuery({ server, secret }: Place): Promise<Lasting> {
  const asked = { ...server, token: secret };
  const { headers } = await call(asked, 'GET', '/v1/namespaces');
  const index = headers['x-scheduler-index'] ?? headers['x-registry-index'];
  const path = `/v1/namespaces?index=${index}&wait=5m`;
  return lasting(call(asked, 'GET', path).then(({ json }) => json.code));
}

type Opening = (place: Place) => Promise<Lasting>;

const ways: readonly (readonly [string, Opening, RegExp])[] = [
  ['the event stream', (place) => body(place, '/v1/event/stream', /\{\}/), /no-leader/],
  ['the newest events', (place) => body(place, '/v1/event/stream?newest=5', /\{/), /no-leader/],
  ['the log of the agent', (place) => body(place, '/v1/agent/monitor', /\{/), /no-leader/],
  [
    'the log of a task',
    (place) => body(place, `/v1/client/fs/logs/${place.allocation}?task=t&follow`, /\{/),
    /no-leader/,
  ],
  [
    'the plain log of a task',
    (place) => body(place, `/v1/client/fs/logs/${place.allocation}?task=t&follow&plain`, /hello/),
    /cut off/,
  ],
  ['a command in a task', exec, /1008 .*leader/],
  ['a command whose client does not close', stubbornExec, /has ended/],
  ['a page of the web interface', page, /1008 no-leader/],
  ['a blocking query', blockingQuery, /no-leader/],
];

test('every answer that lasts ends at a server whose state is too old, though its token lives on there', async () => {
  cluster = new ServerCluster();
  const jumping = new JumpingWorld();
  await cluster.start();
  await cluster.settled();
  const server = await cluster.start({ world: jumping.world });
  await cluster.start();
  const leader = await cluster.settled();
  expect(server).not.toBe(leader);
  const introduction = await call(leader, 'PUT', '/v1/node/introduction-token');
  node = await startNode(
    {
      node: { name: 'only', address: '127.0.0.1' },
      drivers: { allow: ['raw_exec'] },
      environment: process.env,
    },
    { addresses: [server.agent.address], introduction: async () => introduction.json.SecretID },
  );
  await node.registered();
  expect((await call(leader, 'POST', '/v1/jobs', talking)).status).toBe(200);
  const allocations = () => call(leader, 'GET', '/v1/job/talk/allocations');
  await expect.poll(async () => (await allocations()).json[0]?.ClientStatus).toBe('running');
  const allocation = (await allocations()).json[0].ID;
  const made = await call(leader, 'PUT', '/v1/acl/token', {
    Policies: [{ Name: 'global-management' }],
  });
  const { SecretID: secret, AccessorID: accessor } = made.json;
  await expect
    .poll(
      async () => (await call({ ...server, token: secret }, 'GET', '/v1/acl/token/self')).status,
    )
    .toBe(200);
  const place = { server, secret, allocation };
  const open = await Promise.all(ways.map(([, begin]) => begin(place)));

  server.engine.deliveryDelayMs = 3_600_000;
  server.engine.end = () => Promise.reject(new Error('connection refused'));
  expect((await call(leader, 'DELETE', `/v1/acl/token/${accessor}`)).status).toBe(200);
  expect(open.filter(({ isOpen }) => isOpen())).toEqual(open);

  jumping.jump(6 * minuteMs);
  const stillOpen = () => ways.flatMap(([name], at) => (open[at]!.isOpen() ? [name] : []));
  await expect.poll(stillOpen).toEqual([]);
  for (const [at, [name, , how]] of ways.entries()) {
    expect([name, await open[at]!.ended]).toEqual([name, expect.stringMatching(how)]);
  }
});
