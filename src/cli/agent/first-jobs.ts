import { delay, type Timers } from '../../base/ports.ts';
import type { AllocationStub } from '../../model/allocation/allocation-stub.ts';
import { isLoopback } from '../../model/auth-method/validate.ts';
import { type Client, createClient, isMissing, waitFor } from '../../sdk/client.ts';
import type { TlsTrust } from '../../sdk/tls-trust.ts';
import { cliLimits } from '../limits.ts';
import { addressesOf } from '../render/addresses.ts';
import { signInAddress } from '../ui/sign-in-address.ts';
import type { AgentOptions } from './options.ts';

/**
 * Registers the jobs of `--run` that do not exist yet, and waits until their instances have
 * started. Returns a sentence for each job, with the addresses of its instances.
 */
export async function runFirstJobs(
  agent: TlsTrust & { readonly address: string; readonly token: string | undefined },
  run: AgentOptions['run'],
  timers: Timers,
): Promise<readonly string[]> {
  const client = createClient(agent);
  try {
    const told: string[] = [];
    for (const { path, registration } of run) {
      told.push(...(await runOne(client, path, registration, timers)));
    }
    return told;
  } finally {
    await client.close();
  }
}

async function runOne(
  client: Client,
  path: string,
  registration: AgentOptions['run'][number]['registration'],
  timers: Timers,
): Promise<readonly string[]> {
  const id = registration.Job.ID ?? '';
  try {
    const known = await isRegistered(client, id);
    if (!known) await client.jobs.register(registration);
    const allocations = await startedAllocations(client, id, timers);
    const running = allocations.filter(({ ClientStatus }) => ClientStatus === 'running');
    const sentence =
      allocations.length > 0 && running.length === allocations.length
        ? `The job "${id}" runs:`
        : `The job "${id}" of ${path} is registered; "roster job status ${id}" tells how it fares.`;
    return [sentence, ...running.map(describe).sort()];
  } catch (error) {
    return [`The job "${id}" of ${path} could not be registered: ${(error as Error).message}`];
  }
}

async function isRegistered(client: Client, id: string): Promise<boolean> {
  try {
    return !(await client.jobs.read(id)).value.Stop;
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}

/** The allocations of the job, after all have started or failed, or after the timeout. */
async function startedAllocations(
  client: Client,
  id: string,
  timers: Timers,
): Promise<readonly AllocationStub[]> {
  const tooLate = new AbortController();
  let seen: readonly AllocationStub[] = [];
  void delay(timers, cliLimits.agent.startingMaxMs, tooLate.signal).then(() => tooLate.abort());
  const wanted = (list: readonly AllocationStub[]) =>
    list.filter(({ DesiredStatus }) => DesiredStatus === 'run');
  await waitFor(
    (options) => client.jobs.allocations(id, { ...options, resources: true }),
    (list) => {
      seen = wanted(list);
      return seen.length > 0 && seen.every(({ ClientStatus }) => ClientStatus !== 'pending');
    },
    { signal: tooLate.signal },
  ).catch((error: unknown) => {
    if (!tooLate.signal.aborted) throw error;
  });
  tooLate.abort();
  return seen;
}

const describe = ({ Name, ID, AllocatedResources }: AllocationStub): string =>
  `  ${Name}  ${ID.slice(0, 8)}  ${addressesOf(AllocatedResources).join(' ')}`;

/**
 * The page of the web interface that signs in with the rights of the root token, once; `undefined`: the server
 * gives no link, or the agent is reached from other machines.
 */
export async function signInLink(
  agent: TlsTrust & { readonly address: string; readonly token: string | undefined },
): Promise<string | undefined> {
  const host = URL.parse(agent.address)?.hostname ?? '';
  if (agent.token === undefined || !isLoopback(host)) return undefined;
  const client = createClient(agent);
  try {
    const { value } = await client.signInLinks.create({ LoopbackOnly: true });
    return signInAddress(agent.address, value.Secret);
  } catch {
    return undefined;
  } finally {
    await client.close();
  }
}

interface Reached {
  readonly address: string;
  /** `undefined`: no token is needed. */
  readonly token: string | undefined;
  /** A given token is not printed. */
  readonly isTokenGiven: boolean;
  /** `bin/roster` in a checkout, where the examples are, too; otherwise `roster`. */
  readonly command: string;
  /** `undefined`: there is none. */
  readonly signInLink: string | undefined;
}

/** The addresses, and the next steps. */
export function welcome(
  { address, token, isTokenGiven, command, signInLink: link }: Reached,
  run: AgentOptions['run'],
  told: readonly string[],
): string {
  const isToldToken = token !== undefined && !isTokenGiven;
  const lines = [
    ...told,
    '',
    `API         ${address}/v1    (every path: ${address}/v1/openapi.json)`,
    ...(link === undefined
      ? []
      : [`Sign in     ${link}    (once, within 5 minutes; then: ${command} ui)`]),
    `Root token  ${isToldToken ? token : isTokenGiven ? 'as it was given' : 'none: access control is off'}`,
    '',
    'In another terminal:',
    `  export ROSTER_ADDR=${address}${isToldToken ? ` ROSTER_TOKEN=${token}` : ''}`,
    ...(isTokenGiven ? ['  export ROSTER_TOKEN=…  the root token'] : []),
    `  ${command} node status`,
    ...nextSteps(command, run[0]?.registration.Job.ID),
    `  ${command} help`,
    '',
    'Ctrl-C ends it.',
  ];
  return `${lines.join('\n')}\n`;
}

function nextSteps(command: string, job: string | null | undefined): readonly string[] {
  if (job) return [`  ${command} job status ${job}`, `  ${command} job stop ${job}`];
  return command === 'roster'
    ? ['  roster job init', '  roster job run example.hcl']
    : [`  ${command} job run examples/web.json`];
}
