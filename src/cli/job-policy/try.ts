import { decode } from '../../model/codec.ts';
import { complete } from '../../model/complete.ts';
import { RosterError } from '../../model/errors.ts';
import { canonicalizeJob } from '../../model/job/canonicalize.ts';
import { type Job, JobSchema } from '../../model/job/job.ts';
import { validateJob } from '../../model/job/validate.ts';
import { JobPolicySchema } from '../../model/job-policy/job-policy.ts';
import { violations } from '../../model/job-policy/judge.ts';
import { requireJobPolicy } from '../../model/job-policy/write.ts';
import { below } from '../../model/path.ts';
import { answerPrinter } from '../answer.ts';
import { isColored } from '../colors.ts';
import { argument, type LocalCommand } from '../definition.ts';
import type { CliEnvironment } from '../environment.ts';
import { CliError, exitCodes } from '../errors.ts';
import { readJobFile, variableOptions } from '../job-file.ts';
import type { Options } from '../options.ts';
import { createScreen } from '../render/screen.ts';
import { oneLine } from '../render/text.ts';
import { readText } from '../text-file.ts';
import { jobPolicyIn } from './policy-file.ts';

export const jobPolicyTest: LocalCommand = {
  words: ['job', 'policy', 'test'],
  summary: 'Test a job policy on a job file, without an agent.',
  definition: {
    arguments: [
      argument('POLICY', 'File of the policy, in HCL or JSON; - is standard input.', 'file'),
      argument('JOB', 'File of the job.', 'file'),
    ],
    options: variableOptions,
    details: `Registers nothing and needs no agent. Exit code 1 if the job violates the policy, at any
enforcement level.

Example:
  roster job policy read -json owned | roster job policy test - web.json`,
  },
  async runLocally(environment, [policyPath, jobPath], options) {
    const text = await readText({ environment }, policyPath!, 'job policy');
    const policy = policyOf(text, policyPath!);
    const job = await jobIn(environment, jobPath!, options);
    const [violation] = violations([policy], job);
    const { stdout, env } = environment;
    const { isJson, json } = await answerPrinter(environment, options);
    if (isJson) {
      const { Name, EnforcementLevel } = policy;
      const Reason = violation?.reason ?? '';
      const result = { Policy: Name, EnforcementLevel, JobID: job.ID };
      await json({ ...result, Holds: violation === undefined, Reason });
    } else {
      const screen = createScreen(stdout, isColored(stdout, env, options.flag('noColor')));
      const { green, red } = screen.colors;
      const about = `policy "${policy.Name}" (${policy.EnforcementLevel}), job "${oneLine(job.ID)}"`;
      await screen.line(
        violation === undefined
          ? `${green('ok')}  ${about}`
          : `${red('FAILED')}  ${about}: ${oneLine(violation.reason)}`,
      );
    }
    return violation === undefined ? exitCodes.ok : exitCodes.error;
  },
};

/** Checks a policy or a job by the server's rules. @throws CliError */
function told<T>(path: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof RosterError)) throw error;
    const faults = error.errors.map(({ message }) => message);
    throw new CliError(`${path} cannot be used:`, faults.length > 0 ? { faults } : {});
  }
}

const policyOf = (text: string, path: string) =>
  told(path, () => {
    const given = jobPolicyIn(text, path);
    const { value } = decode(JobPolicySchema, given, { unknown: 'refuse', checkValues: false });
    const policy = complete(JobPolicySchema, value);
    requireJobPolicy(policy);
    return policy;
  });

async function jobIn(environment: CliEnvironment, path: string, options: Options): Promise<Job> {
  const { Job: given } = await readJobFile(environment, path, options);
  const namespace = options.text('namespace') ?? (environment.env.ROSTER_NAMESPACE || undefined);
  return told(path, () => {
    const { value } = decode(JobSchema, given, { checkValues: false, code: 'invalid-job' });
    const named = namespace === undefined ? value : { ...value, Namespace: namespace };
    const job = canonicalizeJob(named);
    const faults = validateJob(job, below(null, 'Job'));
    if (faults.length > 0) throw new RosterError('invalid-job', '', faults);
    return job;
  });
}
