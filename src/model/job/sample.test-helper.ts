import type { JobInput } from './job.ts';

/** The job of the reference example: three small web servers as plain processes. */
export const webJob = {
  ID: 'web',
  Type: 'service',
  TaskGroups: [
    {
      Name: 'web',
      Count: 3,
      Networks: [{ Mode: 'host', DynamicPorts: [{ Label: 'http' }] }],
      Tasks: [
        {
          Name: 'server',
          Driver: 'raw_exec',
          Config: { command: 'node', args: ['server.mjs'] },
          Env: { GREETING: 'hello' },
          Resources: { CPU: 100, MemoryMB: 64 },
          LogConfig: { MaxFiles: 3, MaxFileSizeMB: 5 },
        },
      ],
    },
  ],
} satisfies JobInput;

/** The sample with a value replaced, added or (`undefined`) removed: `with('TaskGroups.0.Count', 5)`. */
export function webJobWith(changes: Readonly<Record<string, unknown>>): JobInput {
  const job = structuredClone(webJob) as unknown as Record<string, unknown>;
  for (const [path, value] of Object.entries(changes)) {
    const keys = path.split('.');
    const last = keys.pop()!;
    let place: Record<string, unknown> = job;
    for (const [index, key] of keys.entries()) {
      const next = keys[index + 1] ?? last;
      place[key] ??= /^\d+$/.test(next) ? [] : {};
      place = place[key] as Record<string, unknown>;
    }
    if (value === undefined) delete place[last];
    else place[last] = value;
  }
  return job as JobInput;
}
