/** The attempts of an adversary, as values. */
import type { Defence } from '../../src/node/defences.ts';

export type DriverName = 'exec' | 'docker';
/** The user of the agent. */
export type AgentUser = 'root' | 'plain';

/** The prey of an attempt, made anew for each one except the neighbour. */
export interface Prey {
  /** A file that only the agent's user may read or write, in a directory that all can see. */
  readonly canary: string;
  /** A program beside the canary that prints it; only the agent's user may run it. */
  readonly program: string;
  /** The node's data directory. */
  readonly dataDirectory: string;
  readonly agentPid: number;
  readonly supervisorPid: number;
  /**
   * A task of another namespace on the same node. Its secret is in its variables and files, and on
   * the abstract socket with the name of its allocation.
   */
  readonly neighbour: { readonly id: string; readonly pid: number };
  /** The user id of an ended task of another namespace, whose files are still there. */
  readonly left: string;
  /** The address of a server on this machine: each name below it is a small file. */
  readonly url: string;
  /** The attempt's own job. */
  readonly jobId: string;
  /** Names are changed between the server and this node: `lying-server.ts`. */
  readonly isLiedTo: boolean;
  readonly agent: AgentUser;
  readonly driver: DriverName;
}

/** Actions of the adversary's token from outside while the task runs. */
export interface Hand {
  readonly allocId: string;
  /** The text of the answer, whatever its status, or of its part after a few seconds. */
  ask(method: string, path: string, body?: object): Promise<string>;
  /** The output of a command beside the task, given as words or as the name of an action. */
  run(command: readonly string[] | string): Promise<string>;
}

export interface Plan {
  /** The shell script of the task. It ends with `tried`, to show that it has run. */
  readonly script: string;
  /** The script of a task of the same allocation that runs first. */
  readonly before?: string;
  readonly config?: object;
  readonly task?: object;
  readonly group?: object;
  readonly job?: object;
  /** The payload with which the job is dispatched. */
  readonly payload?: string;
  /** The script of the job's next version, on this node or another, once the first one is ready. */
  readonly next?: { readonly script: string; readonly isElsewhere: boolean };
  /** Runs once the script has made `/alloc/tmp/ready`. Resolves with what the adversary learned. */
  readonly besides?: (hand: Hand) => Promise<string>;
  /** Whether the machine shows at the end that the attempt has succeeded. */
  readonly hasHappened?: () => boolean;
}

/** The permissions of a node's operator: the defaults, those of `settings.ts`, or everything. */
export type Operator = 'strict' | 'lenient' | 'reckless';

/** The conditions under which the same attempt succeeds. */
export type Counter =
  /** On a node without these defences, but with all others. */
  | { readonly without: readonly Defence[]; readonly isLiedTo?: boolean }
  /** On a node with all defences whose operator allows the attempt. */
  | { readonly operator: Operator }
  /** As a program of the agent's user without any driver. */
  | 'outside';

export interface Attempt {
  readonly name: string;
  readonly drivers: readonly DriverName[];
  /** Default: both. */
  readonly agents?: readonly AgentUser[];
  /** The operator of the node. Default: `strict`. */
  readonly operator?: Operator;
  /** The server sends the node names that servers refuse. */
  readonly isLiedTo?: boolean;
  /** A task of another namespace has run before, and has left its files. */
  readonly hasLeft?: boolean;
  /** The aim is a job that cannot be stopped, or a log that cannot be read. */
  readonly holdsUp?: boolean;
  /** The expected refusal, if the script does not even run. */
  readonly refusal?: RegExp;
  readonly counter: Counter;
  readonly plan: (prey: Prey) => Plan;
}

/** An action that no defence prevents, as `docs/security.md` says. */
export type Opening = Omit<Attempt, 'counter' | 'refusal'>;

/** Printed by a script that has succeeded. */
export const success = 'got it';
export const tried = 'tried';
