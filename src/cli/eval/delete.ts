import { type ClientCommand, filterOption } from '../definition.ts';
import { CliError, exitCodes } from '../errors.ts';
import { resolveEvaluation } from '../nouns.ts';
import { plural } from '../render/text.ts';

export const evalDelete: ClientCommand = {
  words: ['eval', 'delete'],
  summary: 'Delete evaluations.',
  definition: {
    confirms: ([evaluation]) =>
      evaluation === undefined
        ? 'Delete all evaluations that match?'
        : `Delete the evaluation ${evaluation}?`,
    arguments: [
      {
        name: 'EVAL',
        kind: 'evaluation',
        isRequired: false,
        description: 'Id of the evaluation, or 8 or more characters of it.',
      },
    ],
    options: [
      {
        ...filterOption,
        description: 'Delete all evaluations of the namespace that match, instead of one.',
      },
    ],
    details: `The scheduler never decides a deleted evaluation. Needs a management token.
Example:
  roster eval delete -filter 'Status == "complete" and JobID == "nightly"'`,
  },
  async run(context, [given], options) {
    const filter = options.text('filter');
    if ((given === undefined) === (filter === undefined)) {
      throw new CliError('Give either the id of an evaluation or -filter.');
    }
    const which =
      filter === undefined ? { ids: [await resolveEvaluation(context, given!)] } : { filter };
    const { value } = await context.client.evaluations.delete(which);
    if (context.isJson) await context.json(value);
    else
      await context.screen.line(
        `${plural(value.Count, 'evaluation is', 'evaluations are')} deleted.`,
      );
    return exitCodes.ok;
  },
};
