/**
 * The defences that confine tasks, by name, each with the rule that it enforces. The product has
 * all of them on: no option, variable or configuration reaches this value. The escape tests build a
 * node without one of them, to show that this very defence stops the attempt.
 */
export const defenceSentences = {
  ownProcesses: 'A task in a sandbox sees no process but its own.',
  ownIpc: 'A task in a sandbox shares no memory, message queue or semaphore with others.',
  ownUsers: 'Tasks of two allocations that name no user are two users of the machine.',
  noNewDevices: 'A task in a container makes no devices.',
  userNamespaces: 'A task in a sandbox has no power outside of it, though it be root in there.',
  systemCalls: 'A task in a sandbox makes only the system calls that programs need.',
  logsOutOfReach: 'No task writes where its logs are.',
  plainLogs:
    'A log is opened only if it is a plain file of one name, and no link is followed to it.',
  heldPaths: 'A path in what tasks write to is followed step by step, and never out of it.',
  fitNames: 'A task whose name is no directory of its own has none, whatever a server says.',
  keptUsers: 'A user is given again only when nothing of its allocation is left.',
} as const;

export type Defence = keyof typeof defenceSentences;

export type Defences = Readonly<Record<Defence, boolean>>;

export const defenceNames = Object.keys(defenceSentences) as Defence[];

/** All defences except the named ones. */
export const defencesWithout = (lifted: readonly Defence[]): Defences =>
  Object.fromEntries(defenceNames.map((name) => [name, !lifted.includes(name)])) as Defences;

export const allDefences: Defences = defencesWithout([]);
