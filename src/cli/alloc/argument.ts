import type { ArgumentDefinition } from '../definition.ts';

export const allocationArgument: ArgumentDefinition = {
  name: 'ALLOC',
  kind: 'allocation',
  isRequired: true,
  description: 'Id of the allocation, or 8 or more characters of it.',
};

export const taskArgument: ArgumentDefinition = {
  name: 'TASK',
  kind: 'word',
  isRequired: false,
  description: 'The task; all running tasks by default.',
};
