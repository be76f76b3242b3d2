import { decode } from '../../model/codec.ts';
import { type Fault, RosterError } from '../../model/errors.ts';
import { canonicalizeJob } from '../../model/job/canonicalize.ts';
import { foreignFieldFaults } from '../../model/job/foreign-fields.ts';
import { JobSchema, type WrittenJob } from '../../model/job/job.ts';
import { validateJob } from '../../model/job/validate.ts';
import type { ClientCommand } from '../definition.ts';
import { CliError, exitCodes } from '../errors.ts';
import { openJobFile, type ReadJob, variableOptions } from '../job-file.ts';
import { FileWarnings } from '../job-warnings.ts';
import { plural } from '../render/text.ts';

export const jobValidate: ClientCommand = {
  words: ['job', 'validate'],
  summary: 'Check a job file.',
  definition: {
    arguments: [
      {
        name: 'FILE',
        kind: 'file',
        isRequired: true,
        description: 'A job in HCL or JSON; - is standard input.',
      },
    ],
    options: [
      ...variableOptions,
      { name: 'offline', description: 'Ask no server, and skip the checks that need its state.' },
    ],
    details: `Registers nothing.
Exit codes: 0 the job is valid, 1 it is not.

Example:
  roster job validate -var image=web:2 web.hcl`,
  },
  async run(context, [file], options) {
    const read = await openJobFile(context.environment, file!, options);
    const { Job } = read.registration;
    const own = ownFaults(Job);
    const told = options.flag('offline')
      ? { ValidationErrors: [], Warnings: undefined }
      : (await context.client.jobs.validate(Job)).value;
    const more = told.ValidationErrors.filter(
      (sentence) => !own.some(({ message }) => message === sentence),
    );
    const errors = [...own.map(({ message }) => message), ...more];
    const warnings = new FileWarnings(read, told.Warnings);
    if (context.isJson) {
      await context.json({
        ValidationErrors: errors,
        Warnings: told.Warnings ?? '',
        WarningPlaces: warnings.placed,
      });
      return errors.length === 0 ? exitCodes.ok : exitCodes.error;
    }
    if (errors.length > 0) throw refused(read, own, more);
    await warnings.print(context.screen);
    await context.screen.line('The job is valid.');
    return exitCodes.ok;
  },
};

function refused(read: ReadJob, own: readonly Fault[], more: readonly string[]): CliError {
  const count = own.length + more.length;
  const many = plural(count, 'fault');
  return new CliError(`The job has ${many}:\n\n${[...read.locate(own), ...more].join('\n\n')}\n`);
}

/** Faults by the server's rules that need no state. */
function ownFaults(input: WrittenJob): readonly Fault[] {
  try {
    const options = { checkValues: false, code: 'invalid-job' } as const;
    const { value, unknown } = decode(JobSchema, input, options);
    return [...foreignFieldFaults(unknown), ...validateJob(canonicalizeJob(value))];
  } catch (error) {
    if (!(error instanceof RosterError)) throw error;
    return error.errors;
  }
}
