/** The guide to the library, with the package as it is published: its programs run, and their types are right. */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bundle, declareTypes } from '../../tools/build.ts';
import { checkout, endAgents, newDirectory } from '../support/agent.ts';
import { stepsOf } from './blocks.ts';
import { runGuide } from './guide.ts';

const guide = 'docs/guides/library.md';
const project = newDirectory('project');

/** A project that has the package, with its dependencies, and the types of Node. */
beforeAll(async () => {
  const packages = join(project, 'node_modules');
  const installed = join(packages, 'roster');
  mkdirSync(installed, { recursive: true });
  writeFileSync(join(project, 'package.json'), '{"type":"module"}');
  cpSync(join(checkout, 'package.json'), join(installed, 'package.json'));
  const { dependencies } = JSON.parse(readFileSync(join(checkout, 'package.json'), 'utf8'));
  for (const name of ['@types/node', ...Object.keys(dependencies)]) {
    mkdirSync(dirname(join(packages, name)), { recursive: true });
    symlinkSync(join(checkout, 'node_modules', name), join(packages, name));
  }
  await bundle(checkout, join(installed, 'dist'));
  declareTypes(checkout, join(installed, 'dist'));
}, 300_000);

afterAll(endAgents);

test('the guide to the library does what it says', { timeout: 240_000 }, () =>
  runGuide(guide, { cwd: project, programs: { node: process.execPath } }),
);

/** Programs that compile, and lines marked as errors that do not. */
const samples = `
import { createAgent, type Agent, type VirtualAgent } from 'roster';
import { createClient, type Client, WaitError } from 'roster/sdk';

const real: Agent = await createAgent({});
await real.close('stop');
const agent: VirtualAgent = await createAgent({ network: 'none', clock: 'virtual' });
// @ts-expect-error: a clock of its own needs a cluster without a network
await createAgent({ clock: 'virtual' });
// @ts-expect-error: a virtual cluster has no port
await createAgent({ network: 'none', clock: 'virtual', http: { host: '127.0.0.1', port: 0 } });
// @ts-expect-error: time goes forward in spans
await agent.clock.advance(new Date());
const value: 7 = await agent.clock.advanceUntil(Promise.resolve(7 as const));

const client: Client = agent.client();
createClient({ address: ['http://127.0.0.1:4720'] });
const registered = await client.jobs.register({ Job: { ID: 'web' } });
const id: string = registered.value.EvalID;
// @ts-expect-error: only the answer to a read tells whether a leader is known
registered.knownLeader;
// @ts-expect-error: the job is in the field Job
await client.jobs.register({ ID: 'web' });
// A duration is a number of nanoseconds, or a text.
const Update = { MinHealthyTime: '30s', HealthyDeadline: 60_000_000_000 };
await client.jobs.register({ Job: { Update, TaskGroups: [{ Update, ShutdownDelay: '5s' }] } });
// @ts-expect-error: a duration is no truth value
await client.jobs.register({ Job: { Update: { MinHealthyTime: true } } });
// @ts-expect-error: a count is a number
await client.jobs.register({ Job: { TaskGroups: [{ Count: 'two' }] } });
const parsed = await client.jobs.parse({ JobHCL: 'job "web" { }' });
await client.jobs.register({ Job: parsed.value });
const [allocation] = await client.jobs.waitUntilRunning('web', { timeoutMs: 1000 });
const status: 'pending' | 'running' | 'complete' | 'failed' | 'lost' | 'unknown' | undefined =
  allocation?.ClientStatus;
// @ts-expect-error: this is no status
await client.allocations.waitUntil('x', 'ready');
const reason: 'timeout' | 'unreachable' = new WaitError('timeout', '').reason;

for await (const event of client.events.stream({ topics: ['Job:web', 'Node'] })) {
  const topic: 'Job' | 'Node' = event.Topic;
  if (event.Type === 'JobRegistered') event.Payload.Job.TaskGroups.length;
  // @ts-expect-error: not every event has a job
  event.Payload.Job;
  // @ts-expect-error: no event of these topics has this type
  if (event.Type === 'AllocationCreated') continue;
  void topic;
}
for await (const event of client.events.stream()) {
  if (event.Topic === 'Deployment') event.Payload.Deployment.StatusDescription.length;
}
// @ts-expect-error: there is no such topic
client.events.stream({ topics: ['Jobs'] });
// @ts-expect-error: there is no such endpoint
client.calls.read('GET /v1/jobss', {});
// @ts-expect-error: the path needs an id
client.calls.read('GET /v1/node/:node_id', {});
void [value, id, status, reason];
`;

test.each([
  // Checking all declarations a second time would take most of the time.
  ['6', 'typescript/bin/tsc', ['--skipLibCheck']],
  [
    '7',
    'ts7/bin/tsc',
    ['--singleThreaded', '--exactOptionalPropertyTypes', '--noUncheckedIndexedAccess'],
  ],
])(
  'strict TypeScript %s takes the types of the package',
  { timeout: 240_000 },
  (_, compiler, more) => {
    const programs = stepsOf(readFileSync(join(checkout, guide), 'utf8')).flatMap((step) =>
      step.kind === 'file' && step.name.endsWith('.ts') ? [step] : [],
    );
    for (const { name, text } of programs) writeFileSync(join(project, name), text);
    writeFileSync(join(project, 'samples.ts'), samples);
    const files = [...programs.map(({ name }) => name), 'samples.ts'];
    expect(files.length).toBeGreaterThan(10);
    const flags = ['--module', 'nodenext', '--target', 'es2024', '--lib', 'es2024,esnext'];
    const rules = ['--strict', '--noEmit', '--verbatimModuleSyntax', '--types', 'node', ...more];
    const tsc = join(checkout, 'node_modules', compiler);
    const { stdout } = spawnSync(process.execPath, [tsc, ...flags, ...rules, ...files], {
      cwd: project,
      encoding: 'utf8',
    });
    expect(stdout).toBe('');
  },
);
