import type { ArgumentDefinition } from '../definition.ts';

export const nodeArgument: ArgumentDefinition = {
  name: 'NODE',
  kind: 'node',
  isRequired: true,
  description: 'Id of the node, 8 or more characters of it, or its name.',
};
