import type { ClientCommand } from '../definition.ts';
import { exitCodes } from '../errors.ts';
import { withJob } from '../nouns.ts';

export const jobInspect: ClientCommand = {
  definition: {
    arguments: [{ name: 'JOB', kind: 'job', isRequired: true, description: 'Id of the job.' }],
    details: 'What it prints is a job file: "roster job run" takes it.',
  },
  async run(context, [job]) {
    const { value } = await withJob(context, job!, () => context.client.jobs.read(job!));
    await context.json({ Job: value });
    return exitCodes.ok;
  },
};
