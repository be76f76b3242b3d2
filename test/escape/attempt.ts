/** What an adversary tries, as a value. */
import type { Defence } from '../../src/node/defences.ts';

export type DriverName = 'exec' | 'docker';
/** Whom the agent runs as. */
export type AgentUser = 'root' | 'plain';

/** What there is to be had, made anew for each attempt but for the neighbour. */
export interface Prey {
  /** A file of the agent's user that nobody else may read or write, in a directory that all see. */
  readonly canary: string;
  /** Of the node. */
  readonly dataDirectory: string;
  readonly agentPid: number;
  readonly supervisorPid: number;
  /**
   * A task of another namespace on the same node; its secret is in its variables and its files, and it
   * says so over the abstract socket that has the name of its allocation.
   */
  readonly neighbour: { readonly id: string; readonly pid: number };
  /** Who a task of another namespace was that is over, and whose files are still there. */
  readonly left: string;
  /** Of a server of this machine: each name below it is a small file. */
  readonly url: string;
  /** The attempt's own job. */
  readonly jobId: string;
  /** What is said between the server and this node has names changed, see `lying-server.ts`. */
  readonly isLiedTo: boolean;
  readonly agent: AgentUser;
  readonly driver: DriverName;
}

/** What the adversary's token can do from outside while the task runs. */
export interface Hand {
  readonly allocId: string;
  /** The text of the answer, whatever its status; waits no longer than a few seconds. */
  ask(method: string, path: string, body?: object): Promise<string>;
  /** What a command beside the task prints: these words, or the action of that name. */
  run(command: readonly string[] | string): Promise<string>;
}

export interface Plan {
  /** What a shell runs in the task. It ends with `tried`, which shows that it came so far. */
  readonly script: string;
  /** What a task of the same allocation does first. */
  readonly before?: string;
  readonly config?: object;
  readonly task?: object;
  readonly group?: object;
  readonly job?: object;
  /** What the job is dispatched with. */
  readonly payload?: string;
  /** The script of the job's next version, on this node or another, once the first one is ready. */
  readonly next?: { readonly script: string; readonly isElsewhere: boolean };
  /** Once the script has made `/alloc/tmp/ready`. What it gives is what the adversary got to know. */
  readonly besides?: (hand: Hand) => Promise<string>;
  /** Looked at on the machine in the end: whether it shows that the attempt succeeded. */
  readonly hasHappened?: () => boolean;
}

/** What the operator of a node allows: no more than by default, what `settings.ts` says, or everything. */
export type Operator = 'strict' | 'lenient' | 'reckless';

/** How the same attempt succeeds. */
export type Counter =
  /** On a node without these defences, and with all others. */
  | { readonly without: readonly Defence[]; readonly isLiedTo?: boolean }
  /** On a node with all defences whose operator allows it. */
  | { readonly operator: Operator }
  /** As a program of the agent's user, without any driver: what holds is the kernel. */
  | 'outside';

export interface Attempt {
  readonly name: string;
  readonly drivers: readonly DriverName[];
  /** Both, when absent. */
  readonly agents?: readonly AgentUser[];
  /** Of the node that it is tried on; `strict`, when absent. */
  readonly operator?: Operator;
  /** The server gives that node names that a server refuses. */
  readonly isLiedTo?: boolean;
  /** A task of somebody else's has been there before, and has left its files. */
  readonly hasLeft?: boolean;
  /** It wants that its job cannot be stopped, or its log not read. */
  readonly holdsUp?: boolean;
  /** With what it is refused, where it is not the script that fails. */
  readonly refusal?: RegExp;
  readonly counter: Counter;
  readonly plan: (prey: Prey) => Plan;
}

/** What nothing keeps a task from, as `docs/security.md` says. */
export type Opening = Omit<Attempt, 'counter' | 'refusal'>;

/** In the output of a script: it has what it wanted. */
export const success = 'got it';
export const tried = 'tried';
