import { Connection, requestBytes } from '../../bench/load.ts';
import type { Target } from '../../bench/target.ts';
import type { Choices } from '../support/random.ts';
import type { Acknowledgement, Ledger, Write } from './ledger.ts';

/** The jobs that one writer keeps changing; it also registers jobs that it never touches again. */
const jobsPerWriter = 8;

export interface WritersOptions {
  readonly target: Target;
  readonly ledger: Ledger;
  readonly choices: Choices;
  readonly writers: number;
  /** Makes names different in each round. */
  readonly round: number;
  readonly onAcknowledged: () => void;
}

export interface Writers {
  /** Resolves when every connection has ended. Rejects when a write was refused. */
  readonly ended: Promise<void>;
}

/**
 * Starts writers that go on until the server is gone. Each has its own jobs and one write under
 * way, so the write under way at the server's death is known for every job.
 */
export async function startWriters(options: WritersOptions): Promise<Writers> {
  const open = Array.from({ length: options.writers }, () => Connection.open(options.target));
  const connections = await Promise.all(open);
  const writing = connections.map((connection, writer) => writeOn(connection, writer, options));
  return { ended: Promise.all(writing).then(() => {}) };
}

async function writeOn(
  connection: Connection,
  writer: number,
  options: WritersOptions,
): Promise<void> {
  const { target, ledger, round, onAcknowledged } = options;
  for (let number = 0; ; number++) {
    const { id, write } = nextWrite(writer, `${round}-${number}`, options);
    ledger.send(id, write);
    const answer = await connection.send(requestOf(target, id, write, ledger)).catch((error) => {
      // Any other end than a broken connection is a wrong answer.
      if (/answered with/.test(String(error))) throw new Error(`${write.kind} ${id}: ${error}`);
      return undefined;
    });
    if (answer === undefined) return connection.close();
    ledger.acknowledge(id, JSON.parse(answer.body.toString()) as Acknowledgement);
    onAcknowledged();
  }
}

function nextWrite(
  writer: number,
  name: string,
  { choices, ledger }: WritersOptions,
): { readonly id: string; readonly write: Write } {
  const register = { kind: 'register', marker: `${writer}-${name}` } as const;
  if (choices.fraction() < 0.25) return { id: `crash-${writer}-once-${name}`, write: register };
  const id = `crash-${writer}-${choices.below(jobsPerWriter)}`;
  const { state } = ledger.entry(id);
  if (state === undefined) return { id, write: register };
  const chance = choices.fraction();
  if (chance < 0.4) return { id, write: register };
  if (chance < 0.6 && !state.stopped) return { id, write: { kind: 'repeat' } };
  return { id, write: chance < 0.8 ? { kind: 'stop' } : { kind: 'purge' } };
}

function requestOf(target: Target, id: string, write: Write, ledger: Ledger): Buffer {
  if (write.kind === 'stop') return requestBytes(target, 'DELETE', `/v1/job/${id}`);
  if (write.kind === 'purge') return requestBytes(target, 'DELETE', `/v1/job/${id}?purge=true`);
  const marker = write.kind === 'register' ? write.marker : ledger.entry(id).state!.marker;
  return requestBytes(target, 'POST', '/v1/jobs', JSON.stringify(job(id, marker)));
}

/**
 * Many jobs want no allocation, and the others a node that does not exist: all are evaluated, and
 * none starts a process.
 */
function job(id: string, marker: string) {
  const isBlocked = marker.endsWith('3');
  return {
    Job: {
      ID: id,
      Type: 'service',
      Datacenters: [isBlocked ? 'nowhere' : '*'],
      Meta: { marker },
      TaskGroups: [
        {
          Name: 'group',
          Count: isBlocked ? 1 : 0,
          Tasks: [{ Name: 'task', Driver: 'raw_exec', Config: { command: '/bin/true' } }],
        },
      ],
    },
  };
}
