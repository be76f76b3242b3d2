/** Jobs of the acceptance tests: small programs that need nothing but the product's own Node. */

/** Runs a script in the Node that runs the agent. */
export const node = (script: string) => ({
  Config: { command: '${attr.roster.runtime}', args: ['-e', script] },
});

export const shell = (script: string) => ({
  Config: { command: '/bin/sh', args: ['-c', script] },
});

const answerPid = `
  require('node:http')
    .createServer((request, response) => response.end(String(process.pid)))
    .listen(Number(process.env.ROSTER_PORT_http), '127.0.0.1');
`;

/** Answers over HTTP with its pid, and says nothing: it would survive who reads its output. */
export const quiet = node(answerPid);

/** Answers over HTTP with its pid, and counts aloud, a number every 5 ms. */
export const counter = node(`${answerPid}
  let count = 0;
  setInterval(() => console.log(++count), 5);
`);

/** Runs until it is told to end. */
export const idle = node('setInterval(() => {}, 1e9)');

export const httpPort = [{ Mode: 'host', DynamicPorts: [{ Label: 'http' }] }];

/** Without restarts and rescheduling. */
export const once = {
  RestartPolicy: { Attempts: 0, Mode: 'fail' },
  ReschedulePolicy: { Attempts: 0, Unlimited: false },
};

interface Parts {
  readonly job?: object;
  readonly group?: object;
  readonly task: object;
}

/** A job of one group, `main`, with one task, `task`. */
export const job = (id: string, { job = {}, group = {}, task }: Parts) => ({
  ID: id,
  Type: 'service',
  TaskGroups: [
    {
      Name: 'main',
      Count: 1,
      Tasks: [{ Name: 'task', Driver: 'raw_exec', Resources: { CPU: 20, MemoryMB: 32 }, ...task }],
      ...group,
    },
  ],
  ...job,
});

interface Event {
  readonly Type: string;
  readonly DisplayMessage: string;
  readonly Details: Readonly<Record<string, string>>;
}

export interface Allocation {
  readonly ID: string;
  readonly Name: string;
  readonly NodeID: string;
  readonly JobVersion: number;
  readonly DesiredStatus: string;
  readonly ClientStatus: string;
  readonly PreviousAllocation: string;
  readonly NextAllocation: string;
  readonly FollowupEvalID: string;
  readonly CreateIndex: number;
  readonly ModifyIndex: number;
  readonly TaskStates: Readonly<
    Record<string, { State: string; Failed: boolean; Restarts: number; Events: readonly Event[] }>
  >;
}

/** The state of the task `task`. */
export const taskOf = ({ TaskStates }: Pick<Allocation, 'TaskStates'>) => TaskStates.task!;

export const eventTypes = (allocation: Pick<Allocation, 'TaskStates'>): string[] =>
  taskOf(allocation).Events.map(({ Type }) => Type);

export const byName = (left: { Name: string }, right: { Name: string }): number =>
  left.Name < right.Name ? -1 : 1;
