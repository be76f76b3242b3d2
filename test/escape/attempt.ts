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
  /** A task of another namespace on the same node; its secret is in its variables and its files. */
  readonly neighbour: { readonly id: string; readonly pid: number };
  readonly agent: AgentUser;
  readonly driver: DriverName;
}

/** What the adversary's token can do from outside while the task runs. */
export interface Hand {
  readonly allocId: string;
  /** The text of the answer, whatever its status; waits no longer than a few seconds. */
  ask(method: string, path: string, body?: object): Promise<string>;
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
  /** Once the script has made `/alloc/data/ready`. What it gives is what the adversary got to know. */
  readonly besides?: (hand: Hand) => Promise<string>;
  /** Looked at on the machine in the end: whether it shows that the attempt succeeded. */
  readonly hasHappened?: () => boolean;
}

/** What the operator of a node allows: no more than by default, what `settings.ts` says, or everything. */
export type Operator = 'strict' | 'lenient' | 'reckless';

/** How the same attempt succeeds. */
export type Counter =
  /** On a node without these defences, and with all others. */
  | { readonly without: readonly Defence[] }
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
  /** With what it is refused, where it is not the script that fails. */
  readonly refusal?: RegExp;
  readonly counter: Counter;
  readonly plan: (prey: Prey) => Plan;
}

/** In the output of a script: it has what it wanted. */
export const success = 'got it';
export const tried = 'tried';
