import type { Context } from '../context.ts';
import { type ClientCommand, detach, verbose } from '../definition.ts';
import { CliError } from '../errors.ts';
import { withJob } from '../nouns.ts';
import type { Options } from '../options.ts';
import { pairs } from '../pairs.ts';
import { oneLine } from '../render/text.ts';
import { readBytes } from '../text-file.ts';
import { watchLaunch } from './launched.ts';

export const jobDispatch: ClientCommand = {
  words: ['job', 'dispatch'],
  summary: 'Launch a child of a parameterized job and watch it start.',
  definition: {
    arguments: [
      { name: 'JOB', kind: 'job', isRequired: true, description: 'Id of a parameterized job.' },
      {
        name: 'FILE',
        kind: 'file',
        isRequired: false,
        description: 'A file with its payload; - is standard input.',
      },
    ],
    options: [
      {
        name: 'meta',
        value: 'KEY=VALUE',
        isRepeatable: true,
        description: 'Meta of the child; may be given more than once.',
      },
      { name: 'id-prefix-template', value: 'TEXT', description: "Goes into the child's id." },
      {
        name: 'idempotency-token',
        value: 'TEXT',
        description: 'Of all dispatches with the same token, only the first makes a child.',
      },
      { name: 'priority', value: 'N', description: "Of the child; the job's own without it." },
      detach,
      verbose,
    ],
    details: `Watches until everything of the child runs.
Exit codes: 0 everything runs, 1 an error, 2 not everything could be placed or started.

Examples:
  roster job dispatch -meta quality=high render picture.png
  date | roster job dispatch -detach -idempotency-token "$(date +%F)" report -`,
  },
  async run(context, [job, file], options) {
    const { client } = context;
    const Meta = pairs('meta', options.list('meta'));
    const Payload = file === undefined ? undefined : await payloadIn(context, file);
    const body = {
      ...(Object.keys(Meta).length > 0 && { Meta }),
      ...(Payload && { Payload }),
      IdPrefixTemplate: options.text('idPrefixTemplate'),
      Priority: priorityOf(options),
    };
    const idempotencyToken = options.text('idempotencyToken');
    const { value: dispatched } = await withJob(context, job!, () =>
      client.jobs.dispatch(job!, body, { idempotencyToken }),
    );
    const log = context.isJson ? context.notes : context.screen;
    const { DispatchedJobID: id, EvalID } = dispatched;
    const isNew = EvalID !== '' || idempotencyToken === undefined;
    await log.line(
      isNew
        ? `Dispatched job "${oneLine(id)}".`
        : `Nothing new: the token was given before, or the dispatched job is periodic: "${oneLine(id)}".`,
    );
    return watchLaunch(context, dispatched, options.flag('detach'));
  },
};

async function payloadIn(context: Context, file: string): Promise<string> {
  const bytes = await readBytes(context, file, 'payload');
  return Buffer.from(bytes).toString('base64');
}

function priorityOf(options: Options): number | undefined {
  const text = options.text('priority');
  if (text === undefined || /^\d{1,3}$/.test(text)) return text === undefined ? text : Number(text);
  throw new CliError(`--priority must be an integer from 1 to 100, got "${text}".`);
}
