import { verbose } from '../definition.ts';
import { listCommand } from '../list-command.ts';
import { deploymentColumns, newestFirst } from './render.ts';

export const deploymentList = listCommand({
  words: ['deployment', 'list'],
  summary: 'List the deployments.',
  request: 'GET /v1/deployments',
  options: [verbose],
  details: `Example:
  roster deployment list -filter 'Status == "running"'`,
  empty: 'There are no such deployments.',
  order: newestFirst,
  columns: deploymentColumns,
});
