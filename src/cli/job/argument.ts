import type { ArgumentDefinition } from '../definition.ts';

export const jobArgument: ArgumentDefinition = {
  name: 'JOB',
  kind: 'job',
  isRequired: true,
  description: 'Id of the job.',
};
