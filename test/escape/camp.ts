/**
 * A server, the nodes that attempts need, and on each node a neighbour with a secret. Nodes without
 * a defence run in their own program, which is killed at the end, as a successful attempt may leave
 * it stuck.
 */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { unmountBelow } from '../../bench/mounts.ts';
import type { Defence } from '../../src/node/defences.ts';
import { findSystemUser } from '../../src/node/system-user.ts';
import {
  type Agent,
  eventually,
  kill,
  launch,
  newDirectory,
  type Program,
  processesOf,
  processesWith,
  startAgent,
  supervisorsOf,
} from '../support/agent.ts';
import type { AgentUser, DriverName, Operator, Prey } from './attempt.ts';
import { type LyingServer, startLyingServer } from './lying-server.ts';
import type { NodeInput, NodeProgramInput } from './node-main.ts';
import { type Adversary, newAdversary } from './people.ts';
import { plainUser } from './plain-user.ts';
import { settingsOf } from './settings.ts';

export interface Surroundings {
  readonly driver: DriverName;
  readonly agent: AgentUser;
  /** The runtime and image for tasks in containers. */
  readonly container?: { readonly socket: string; readonly image: string };
}

/** The properties by which nodes differ. */
export interface NodeKind {
  readonly operator: Operator;
  readonly without: readonly Defence[];
  readonly isLiedTo: boolean;
}

export const nameOf = ({ operator, without, isLiedTo }: NodeKind): string =>
  [operator, ...without, ...(isLiedTo ? ['liedTo'] : [])].join('-');

interface Neighbour {
  readonly id: string;
  readonly pid: number;
  readonly secret: string;
}

/** The content of each file of the machine's server. */
export const fileText = 'a file of a server';
const entry = fileURLToPath(new URL('./node-main.ts', import.meta.url));

export class Camp {
  readonly surroundings: Surroundings;
  readonly server: Agent;
  readonly red: Adversary;
  readonly blue: Adversary;
  readonly place: string;
  readonly #programs: { readonly program: Program; readonly mayBeStuck: boolean }[] = [];
  readonly #pids = new Map<string, number>();
  readonly #files = createServer((_, answer) => answer.end(`${fileText}\n`));
  #lyingServer: LyingServer | undefined;
  readonly #neighbours = new Map<string, Neighbour>();

  private constructor(surroundings: Surroundings, server: Agent, people: Adversary[]) {
    this.surroundings = surroundings;
    this.server = server;
    [this.red, this.blue] = people as [Adversary, Adversary];
    this.place = mkdtempSync(join(tmpdir(), 'camp-'));
    chmodSync(this.place, 0o755);
  }

  static async pitch(surroundings: Surroundings, kinds: readonly NodeKind[]): Promise<Camp> {
    const server = await startAgent({ dataDirectory: newDirectory(), args: ['--server-only'] });
    const people = await Promise.all(['red', 'blue'].map((name) => newAdversary(server, name)));
    const camp = new Camp(surroundings, server, people);
    camp.#files.listen(0, '127.0.0.1');
    await once(camp.#files, 'listening');
    if (kinds.some(({ isLiedTo }) => isLiedTo)) {
      camp.#lyingServer = await startLyingServer(server.address);
    }
    const whole = kinds.filter(({ without }) => without.length === 0);
    const broken = kinds.filter(({ without }) => without.length > 0);
    await Promise.all([camp.#startNodes(whole, false), camp.#startNodes(broken, true)]);
    await Promise.all(kinds.map((kind) => camp.#settleNeighbour(nameOf(kind))));
    return camp;
  }

  /** The prey of an attempt on this node, and the texts that it must not learn. */
  prey(
    node: string,
    jobId: string,
    left = '',
  ): { readonly prey: Prey; readonly secrets: readonly string[] } {
    const directory = mkdtempSync(join(this.place, 'prey-'));
    chmodSync(directory, 0o755);
    const canary = join(directory, 'canary');
    const secret = `canary ${randomUUID()}`;
    writeFileSync(canary, `${secret}\n`, { mode: 0o600 });
    const program = join(directory, 'program');
    writeFileSync(program, `#!/bin/sh\ncat ${canary}\n`, { mode: 0o700 });
    this.#givePaths(directory, canary, program);
    const neighbour = this.#neighbours.get(node)!;
    const { agent, driver } = this.surroundings;
    const dataDirectory = this.#directoryOf(node);
    const [supervisorPid = 0] = supervisorsOf(dataDirectory);
    const agentPid = this.#pids.get(node)!;
    const { port } = this.#files.address() as AddressInfo;
    const url = `http://127.0.0.1:${port}`;
    const pids = { agentPid, supervisorPid };
    const isLiedTo = node.endsWith('liedTo');
    return {
      prey: {
        canary,
        program,
        dataDirectory,
        ...pids,
        neighbour,
        left,
        agent,
        driver,
        url,
        jobId,
        isLiedTo,
      },
      secrets: [secret, neighbour.secret],
    };
  }

  async strike(): Promise<void> {
    const ended = this.#programs.map(async ({ program, mayBeStuck }) => {
      program.signal('SIGTERM');
      if (mayBeStuck) setTimeout(() => program.signal('SIGKILL'), 5000).unref();
      const { code, stderr } = await program.ended;
      if (!mayBeStuck) expect([code, code === 0 ? '' : stderr]).toEqual([0, '']);
    });
    await Promise.all(ended);
    this.#lyingServer?.close();
    this.#files.close();
    await eventually(() => {
      const left = processesWith(this.place);
      for (const pid of left) kill(pid, 'SIGKILL');
      expect(left).toEqual([]);
    });
    unmountBelow(this.place);
  }

  #directoryOf = (node: string): string => join(this.place, node);

  #givePaths(...paths: readonly string[]): void {
    if (this.surroundings.agent === 'root') return;
    const { uid, gid } = findSystemUser(plainUser)!;
    for (const path of paths) chownSync(path, uid, gid);
  }

  async #startNodes(kinds: readonly NodeKind[], mayBeStuck: boolean): Promise<void> {
    if (kinds.length === 0) return;
    const { surroundings, server } = this;
    const nodes = kinds.map((kind): NodeInput => {
      const dataDirectory = this.#directoryOf(nameOf(kind));
      const volume = `${dataDirectory}-volume`;
      for (const path of [dataDirectory, volume]) {
        mkdirSync(path, { mode: 0o700 });
        this.#givePaths(path);
      }
      const { without, operator, isLiedTo } = kind;
      const hostVolumes = {
        fixed: { Path: volume, ReadOnly: true },
        ...(operator === 'reckless' && { machine: { Path: this.place, ReadOnly: true } }),
      };
      const address = isLiedTo ? this.#lyingServer!.address : server.address;
      const settings = settingsOf(operator, surroundings);
      return { name: nameOf(kind), dataDirectory, address, without, hostVolumes, ...settings };
    });
    const introductionToken = await server.introduce({ Uses: 0 });
    const input: NodeProgramInput = { introductionToken, nodes };
    const program = this.#launchProgram([entry, JSON.stringify(input)]);
    this.#programs.push({ program, mayBeStuck });
    for (const { name } of nodes) this.#pids.set(name, program.pid);
    await program.says(/^ready$/m);
  }

  /** Words before a command that run it as the agent's user, with an inherited descriptor. */
  get asAgent(): readonly string[] {
    const inherited = join(this.place, 'inherited');
    writeFileSync(inherited, '');
    const opening = ['sh', '-c', 'exec 9<"$0"; exec "$@"', inherited];
    if (this.surroundings.agent === 'root') return opening;
    const { uid, gid } = findSystemUser(plainUser)!;
    return [...opening, 'setpriv', `--reuid=${uid}`, `--regid=${gid}`, '--clear-groups', '--'];
  }

  #launchProgram(words: readonly string[]): Program {
    const node = [process.execPath, '--disable-warning=ExperimentalWarning', ...words];
    const all = [...this.asAgent, ...node];
    // A directory that every user of the agent may write.
    const env = { TMPDIR: dirname(this.place) };
    return launch(all[0]!, all.slice(1), { env, cwd: '/' });
  }

  /** Finds the neighbour once it runs. */
  async #settleNeighbour(node: string): Promise<void> {
    const secret = `neighbour ${randomUUID()}`;
    const ID = `neighbour-${node}`;
    // Listens before it goes on.
    const answers =
      'socket(S,1,1,0); bind(S, pack("Sa*", 1, "\\0$ENV{ROSTER_ALLOC_ID}")); listen(S, 5); fork and exit; $SIG{PIPE} = q(IGNORE); while (accept(C, S)) { print C $ENV{NEIGHBOUR_SECRET}; close C }';
    const script = `umask 077; cp /secrets/s /local/s; cp /secrets/s /alloc/data/s; perl -e '${answers}'; : > /alloc/data/ready; exec sleep 100000`;
    const task = {
      Templates: [{ EmbeddedTmpl: secret, DestPath: 'secrets/s' }],
      Env: { NEIGHBOUR_SECRET: secret },
    };
    const job = this.job(ID, node, { script, task, job: { Type: 'service' } });
    expect(await this.blue.register(job)).toEqual({ status: 200, text: expect.any(String) });
    const id = await this.blue.running(ID);
    const pid = await eventually(() => {
      const found = processesOf({ ID: id }).find((one) => commandOf(one).startsWith('sleep'));
      if (found === undefined) throw new Error(`the neighbour on ${node} does not sleep yet`);
      return found;
    });
    this.#neighbours.set(node, { id, pid, secret });
  }

  /** Runs a task of another namespace to its end, and returns its user id; its files stay. */
  async leaveFiles(node: string): Promise<string> {
    const ID = `left-${randomUUID()}`;
    const script = 'umask 077; echo mine > /alloc/data/mine; id -u';
    const registered = await this.blue.register(this.job(ID, node, { script }));
    expect(registered).toEqual({ status: 200, text: expect.any(String) });
    const done = await this.blue.ended(ID);
    return (await this.blue.output(done!.ID)).trim();
  }

  /** Another node with the same operator, so that a job is not refused because of its node. */
  otherNode(node: string): string {
    const [operator] = node.split('-');
    const isLike = (name: string) => name !== node && name.split('-')[0] === operator;
    return [...this.#neighbours.keys()].find(isLike)!;
  }

  /** Checks that the neighbour is unharmed, and that the next job in its namespace runs. */
  async checkNeighbour(node: string): Promise<void> {
    const { id, secret } = this.#neighbours.get(node)!;
    const next = `next-${randomUUID()}`;
    const script = 'cat /secrets/s; echo $((6 * 7)) > /alloc/data/x; cat /alloc/data/x';
    const task = { Templates: [{ EmbeddedTmpl: 'mine ', DestPath: 'secrets/s' }] };
    const registered = await this.blue.register(this.job(next, node, { script, task }));
    expect(registered).toEqual({ status: 200, text: expect.any(String) });
    const done = await this.blue.ended(next);
    const output = done && (await this.blue.output(done.ID));
    expect([done?.ClientStatus, output]).toEqual(['complete', 'mine 42\n']);
    const [alive] = await Promise.all([
      this.blue.ask('GET', `/v1/client/fs/cat/${id}?path=alloc/data/s`),
      this.blue.ask('DELETE', `/v1/job/${next}`),
    ]);
    expect(alive).toEqual({ status: 200, text: secret });
    expect(await this.blue.running(`neighbour-${node}`)).toBe(id);
  }

  /** A batch job on this node without restarts; its task is called `task`. */
  job(ID: string, node: string, { before, script, task, config, ...parts }: JobParts): object {
    const Tasks = [
      ...(before === undefined ? [] : [this.#task(before, { Name: 'before', ...prestart })]),
      this.#task(script, task, config),
    ];
    const group = {
      Name: 'main',
      Count: 1,
      EphemeralDisk: { SizeMB: 10 },
      RestartPolicy: { Attempts: 0, Mode: 'fail' },
      ReschedulePolicy: { Attempts: 0, Unlimited: false },
      ...parts.group,
      Tasks,
    };
    const on = { LTarget: '${node.unique.name}', Operand: '=', RTarget: node };
    const dispatched = parts.payload !== undefined && { ParameterizedJob: { Payload: 'required' } };
    const own = { ...dispatched, ...parts.job, TaskGroups: [group] };
    return { ID, Type: 'batch', Constraints: [on], ...own };
  }

  #task(script: string, fields: object = {}, config: object = {}): object {
    const { driver, container } = this.surroundings;
    const image = container === undefined ? {} : { image: container.image };
    return {
      Name: 'task',
      Driver: driver,
      KillTimeout: '500ms',
      Resources: { CPU: 10, MemoryMB: 48 },
      LogConfig: { MaxFiles: 2, MaxFileSizeMB: 1 },
      ...fields,
      Config: { command: '/bin/sh', args: ['-c', script], ...image, ...config },
    };
  }
}

const prestart = { Lifecycle: { Hook: 'prestart' } };

export interface JobParts {
  readonly before?: string | undefined;
  readonly script: string;
  readonly config?: object | undefined;
  readonly task?: object | undefined;
  readonly group?: object | undefined;
  readonly job?: object | undefined;
  readonly payload?: string | undefined;
}

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1');
  } catch {
    return '';
  }
}
