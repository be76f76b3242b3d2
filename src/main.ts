/**
 * The `roster` command. With `agent.ts` the only file that knows every layer; as a library it
 * gives `createAgent`.
 */
import { readFileSync } from 'node:fs';
import { realWorld } from './base/ports-real.ts';
import type { AgentOptions } from './cli/agent/options.ts';
import { processEnvironment } from './cli/process-environment.ts';
import { runCli } from './cli/run-cli.ts';

export type { Agent, CreateAgentOptions } from './agent.ts';

/** Loads the agent when it is asked for: most commands are only clients of one. */
export async function createAgent(
  options: import('./agent.ts').CreateAgentOptions,
): Promise<import('./agent.ts').Agent> {
  return (await import('./agent.ts')).createAgent({ version: readVersion(), ...options });
}

/** Of this program, as its package says. */
function readVersion(): string {
  const manifest = new URL('../package.json', import.meta.url);
  return (JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }).version;
}

/** Runs an agent until a signal ends it. Gives the exit code. */
async function startAgent(options: AgentOptions): Promise<number> {
  const { keptSecret } = await import('./agent.ts');
  const { pino } = await import('pino');
  const { isDev, dataDirectory, http } = options;
  const log = pino({ level: options.logLevel, name: 'roster' }, pino.destination(2));
  let agent: import('./agent.ts').Agent;
  let rootToken = options.rootToken;
  try {
    if (isDev) rootToken ??= await keptSecret(dataDirectory, 'root-token', realWorld);
    const { class: nodeClass, pool: nodePool, name, ...node } = options.node;
    agent = await createAgent({
      ...{ dataDirectory, http, rootToken, log },
      environment: process.env,
      aclEnabled: options.aclEnabled,
      region: options.region,
      node: {
        ...{ ...node, nodeClass, nodePool },
        ...(name !== undefined && { name }),
        // What a person starts to try it out is reached from this machine, and from no other.
        ...(isDev && { address: '127.0.0.1' }),
      },
    });
  } catch (error) {
    process.stderr.write(`roster: ${startFault(error as NodeJS.ErrnoException, options)}\n`);
    return 1;
  }
  process.stdout.write(`Roster is ready at ${agent.address}\n`);
  const ended = new Promise<NodeJS.Signals>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, resolve);
  });
  const registered = runJobs(agent.address, rootToken, options.run);
  if (isDev) welcome(agent.address, rootToken, await registered);
  // Nothing else keeps the process alive while it waits: timers do not.
  const signal = await ended;
  process.stdout.write(`\nRoster ends (${signal})\n`);
  await agent.close(options.tasksOnExit);
  return 0;
}

/** Registers the jobs that are not there yet. Returns a sentence for each. */
async function runJobs(
  address: string,
  token: string | undefined,
  run: AgentOptions['run'],
): Promise<readonly string[]> {
  const { createClient, isMissing } = await import('./sdk/client.ts');
  const client = createClient({ address, token });
  const told: string[] = [];
  for (const { path, registration } of run) {
    const id = registration.Job.ID ?? '';
    try {
      const known = await client.jobs.read(id).catch((error: unknown) => {
        if (isMissing(error)) return undefined;
        throw error;
      });
      if (known === undefined) await client.jobs.register(registration);
      told.push(`The job "${id}" of ${path} ${known ? 'is registered already' : 'is running'}.`);
    } catch (error) {
      told.push(`The job of ${path} could not be registered: ${(error as Error).message}`);
    }
  }
  return told;
}

function welcome(address: string, rootToken: string | undefined, told: readonly string[]): void {
  const lines = [
    ...told,
    '',
    `API         ${address}/v1    (every path: ${address}/v1/openapi.json)`,
    `Root token  ${rootToken}`,
    '',
    'In another terminal:',
    `  export ROSTER_ADDR=${address} ROSTER_TOKEN=${rootToken}`,
    '  bin/roster node status',
    '  bin/roster job status',
    '  bin/roster job run examples/web.json',
    '',
    'Ctrl-C ends it.',
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
}

/** What went wrong at the start, and what to do about it. */
function startFault(error: NodeJS.ErrnoException, { http }: AgentOptions): string {
  const where = `${http.host}:${http.port}`;
  if (error.code === 'EADDRINUSE') {
    return `the port ${http.port} is in use on ${http.host}: end what listens on ${where}, or choose another address with --http HOST:PORT`;
  }
  if (error.code === 'EACCES' && error.syscall === 'listen') {
    return `this user may not listen on ${where}: choose a port from 1024 on with --http HOST:PORT`;
  }
  if (error.code === 'EADDRNOTAVAIL' || error.code === 'ENOTFOUND') {
    return `this machine has no address ${http.host}: choose one that it has with --http HOST:PORT`;
  }
  return error.message;
}

if (import.meta.main) {
  const version = readVersion();
  const environment = processEnvironment(process, { startAgent, version, world: realWorld });
  process.exitCode = await runCli(process.argv.slice(2), environment);
}
