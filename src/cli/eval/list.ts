import { verbose } from '../definition.ts';
import { filterQuery, listCommand } from '../list-command.ts';
import { ago, oneLine } from '../render/text.ts';

export const evalList = listCommand({
  words: ['eval', 'list'],
  summary: 'List the evaluations.',
  request: 'GET /v1/evaluations',
  query: {
    job: { value: 'JOB', description: 'Only evaluations of the job.' },
    status: { value: 'WORD', description: 'Only evaluations with the status.' },
    filter: filterQuery('TriggeredBy == "node-drain"'),
  },
  options: [verbose],
  order: (left, right) => right.CreateIndex - left.CreateIndex,
  empty: 'There are no such evaluations.',
  columns: {
    ID: ({ ID }, { id }) => id(ID),
    Job: ({ JobID }) => oneLine(JobID),
    'Triggered by': ({ TriggeredBy }) => TriggeredBy,
    Priority: ({ Priority }) => String(Priority),
    Status: ({ Status }, { screen }) => screen.status(Status),
    Unplaced: ({ FailedTGAllocs }) => String(Object.keys(FailedTGAllocs ?? {}).length > 0),
    Created: ({ CreateTime }, { nowMs }) => ago(CreateTime, nowMs),
  },
});
