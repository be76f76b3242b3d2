import { execEndpoints as contract, type ExecTarget } from '../../contract/exec.ts';
import type { Allocation } from '../../model/allocation/allocation.ts';
import { isClientTerminal } from '../../model/allocation/allocation-rules.ts';
import { refusal } from '../../model/errors.ts';
import type { ExecSession } from '../../model/exec-session/exec-session.ts';
import { openExec } from '../../model/exec-session/exec-stream.ts';
import { limits } from '../../model/limits.ts';
import { StreamFault } from '../../model/node-stream/byte-stream.ts';
import type { Task } from '../../model/task/task.ts';
import type { Server } from '../../server/server.ts';
import { inNamespace, jobs, nodes } from '../../state/tables.ts';
import type { Snapshot } from '../../state/types.ts';
import type { Opened, Route } from '../route.ts';
import { type InputOf, serveSocket } from '../serve.ts';
import { allocationById, findAllocation, jobOf } from './allocation.ts';
import { refusalOf } from './ask-node.ts';

/** Commands in running tasks. Source: docs/guides/actions-and-exec.md#without-the-command-line. */
export function execRoutes(server: Server): Route[] {
  return [
    ...serveSocket(
      contract.exec,
      async ({ parameters, query, unwatched }) => {
        const command = commandIn(query.command);
        const { allocation, task } = targetOf(unwatched, parameters.alloc_id, query.task);
        return begin(server, allocation, { task: task.Name, command, tty: query.tty });
      },
      {
        found: ({ parameters, query, unwatched }) =>
          execTarget(unwatched, parameters.alloc_id, query.task),
      },
    ),
    ...serveSocket(contract.runAction, (input) => runAction(server, input), {
      found: ({ query, unwatched }) => execTarget(unwatched, query.alloc_id, query.task),
    }),
  ];
}

async function runAction(
  server: Server,
  { parameters, query, namespace, unwatched }: InputOf<typeof contract.runAction>,
): Promise<Opened> {
  const { job_id: job } = parameters;
  if (!unwatched.table(jobs).has(...inNamespace(namespace, job))) {
    throw refusal('job-not-found', { job, namespace });
  }
  const found = allocationById(unwatched, query.alloc_id);
  if (found.JobID !== job || found.Namespace !== namespace) {
    throw refusal('allocation-of-another-job', { allocation: found.ID, job });
  }
  const { allocation, task } = targetOf(unwatched, query.alloc_id, query.task);
  const action = task.Actions?.find(({ Name }) => Name === query.action);
  if (action === undefined) {
    const parameters = { task: task.Name, allocation: allocation.ID, action: query.action };
    throw refusal('action-not-found', parameters);
  }
  const command = [action.Command, ...(action.Args ?? [])];
  const wish = { task: task.Name, command, tty: query.tty };
  const { session, made } = await begin(server, allocation, wish);
  return { session, made: { ...made, action: action.Name } };
}

/**
 * The facts that the permission depends on: the namespace of the allocation, and whether its node
 * reports that tasks of this driver are isolated.
 */
function execTarget(snapshot: Snapshot, id: string, task: string): ExecTarget | undefined {
  const allocation = findAllocation(snapshot, id);
  if (allocation === undefined) return undefined;
  const tasks = tasksOf(snapshot, allocation);
  const meant = tasks?.filter(({ Name }) => task === '' || Name === task);
  const isOpen = ({ Driver }: Task) => !isIsolated(snapshot, allocation, Driver);
  return {
    namespace: allocation.Namespace,
    isIsolated: meant !== undefined && !meant.some(isOpen),
  };
}

const isolations = new Set(['chroot', 'image', 'unveil']);

function isIsolated(snapshot: Snapshot, { NodeID }: Allocation, driver: string): boolean {
  const info = snapshot.table(nodes).get(NodeID)?.Drivers[driver];
  return isolations.has(info?.Attributes[`driver.${driver}.isolation`] ?? '');
}

/** `undefined`: the job version is gone. */
const tasksOf = (snapshot: Snapshot, allocation: Allocation): readonly Task[] | undefined =>
  jobOf(snapshot, allocation)?.TaskGroups.find(({ Name }) => Name === allocation.TaskGroup)?.Tasks;

/** The node refuses if the task does not run. */
function targetOf(snapshot: Snapshot, id: string, wanted: string) {
  const allocation = allocationById(snapshot, id);
  if (isClientTerminal(allocation)) throw refusal('not-running', { noun: 'allocation', id });
  const tasks = tasksOf(snapshot, allocation) ?? [];
  const task = wanted === '' ? tasks[0] : tasks.find(({ Name }) => Name === wanted);
  if (wanted === '' && tasks.length !== 1) {
    const names = tasks.map(({ Name }) => Name).join(', ');
    const reason = `is needed, as the allocation has ${tasks.length} tasks: ${names}`;
    throw refusal('invalid-query', { parameter: 'task', reason });
  }
  if (task === undefined) throw refusal('task-not-found', { allocation: id, task: wanted });
  return { allocation, task };
}

/** @throws RosterError `invalid-query` */
function commandIn(text: string): readonly string[] {
  const wrong = (reason: string) => refusal('invalid-query', { parameter: 'command', reason });
  let command: unknown;
  try {
    command = JSON.parse(text);
  } catch {
    throw wrong('is not JSON');
  }
  if (!Array.isArray(command) || !command.every((word) => typeof word === 'string')) {
    throw wrong('must be a JSON array of texts');
  }
  const words: readonly string[] = command;
  const { commandWordsMax } = limits.exec;
  if (words.length === 0 || words[0] === '') throw wrong('is empty');
  if (words.length > commandWordsMax) throw wrong(`must have at most ${commandWordsMax} words`);
  if (words.some((word) => word.includes('\0'))) throw wrong('must not hold a NUL character');
  return words;
}

/** Starts the command on the node. */
async function begin(
  server: Server,
  { ID, NodeID }: Allocation,
  wish: { readonly task: string; readonly command: readonly string[]; readonly tty: boolean },
): Promise<Opened> {
  const { timers } = server.context.world;
  try {
    const parameters = { ...wish, alloc_id: ID };
    const connection = server.streams.held(NodeID) ?? (await server.streamElsewhere(NodeID));
    const stream = connection.open('exec', parameters, limits.exec.creditBytes);
    const late = timers.after(limits.exec.startTimeoutMs, () => stream.cancel());
    const session = await openExec(stream).finally(() => late.clear());
    return { session: retold(session, NodeID), made: { allocation: ID, task: wish.task } };
  } catch (error) {
    throw error instanceof StreamFault ? refusalOf(error, NodeID) : error;
  }
}

/** The session, with errors of the catalogue. */
function retold(session: ExecSession, node: string): ExecSession {
  const told = (error: unknown) => (error instanceof StreamFault ? refusalOf(error, node) : error);
  const exited = session.exited.catch((error) => {
    throw told(error);
  });
  // If the output fails first, nobody awaits the exit.
  exited.catch(() => {});
  return {
    exited,
    output: {
      async *[Symbol.asyncIterator]() {
        try {
          yield* session.output;
        } catch (error) {
          throw told(error);
        }
      },
    },
    write: (data) => session.write(data),
    closeInput: () => session.closeInput(),
    resize: (size) => session.resize(size),
    close: () => session.close(),
  };
}
