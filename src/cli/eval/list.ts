import { type ClientCommand, verbose } from '../definition.ts';
import { exitCodes } from '../errors.ts';
import { ago, oneLine } from '../render/text.ts';

export const evalList: ClientCommand = {
  definition: {
    options: [
      { name: 'job', value: 'JOB', description: 'Only those of the job.' },
      { name: 'status', value: 'WORD', description: 'Only those with the status.' },
      {
        name: 'filter',
        value: 'EXPRESSION',
        description: `Only those that it fits, as 'TriggeredBy == "node-drain"'.`,
      },
      verbose,
    ],
  },
  async run({ client, screen, isJson, json, id, nowMs }, _words, options) {
    const { value } = await client.evaluations.list({
      job: options.text('job'),
      status: options.text('status'),
      filter: options.text('filter'),
    });
    if (isJson) {
      await json(value);
      return exitCodes.ok;
    }
    if (value.length === 0) {
      await screen.line('There are no such evaluations.');
      return exitCodes.ok;
    }
    await screen.table(
      ['ID', 'Job', 'Triggered by', 'Priority', 'Status', 'Unplaced', 'Created'],
      [...value]
        .sort((left, right) => right.CreateIndex - left.CreateIndex)
        .map((one) => [
          id(one.ID),
          oneLine(one.JobID),
          one.TriggeredBy,
          String(one.Priority),
          screen.status(one.Status),
          String(Object.keys(one.FailedTGAllocs ?? {}).length > 0),
          ago(one.CreateTime, nowMs),
        ]),
    );
    return exitCodes.ok;
  },
};
