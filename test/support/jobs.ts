/** Jobs of the acceptance tests: small programs that run in the product's own Node. */

/** Runs a script in the agent's Node. */
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

/** Answers HTTP requests with its pid. Without output, it would survive the loss of its reader. */
export const quiet = node(answerPid);

/** Answers HTTP requests with its pid and prints a number every 5 ms. */
export const counter = node(`${answerPid}
  let count = 0;
  setInterval(() => console.log(++count), 5);
`);

/** Runs until it is stopped. */
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

/** A job with one group, `main`, and one task, `task`. */
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
