import {
  type StoredSchedulerConfiguration,
  schedulerAlgorithms,
} from '../../model/scheduler-configuration/scheduler-configuration.ts';
import type { Context } from '../context.ts';
import type { ClientCommand, OptionDefinition } from '../definition.ts';
import { CliError, exitCodes } from '../errors.ts';
import type { Options } from '../options.ts';
import { wholeNumberOption } from '../whole-number.ts';

/** The options for preemption by type of job, with their fields. */
const preemptions = [
  ['preempt-system-scheduler', 'preemptSystemScheduler', 'SystemSchedulerEnabled', 'system'],
  [
    'preempt-sysbatch-scheduler',
    'preemptSysbatchScheduler',
    'SysBatchSchedulerEnabled',
    'sysbatch',
  ],
  ['preempt-batch-scheduler', 'preemptBatchScheduler', 'BatchSchedulerEnabled', 'batch'],
  ['preempt-service-scheduler', 'preemptServiceScheduler', 'ServiceSchedulerEnabled', 'service'],
] as const;

async function print(context: Context, value: StoredSchedulerConfiguration): Promise<number> {
  const { screen, isJson, json } = context;
  if (isJson) {
    await json(value);
    return exitCodes.ok;
  }
  await screen.fields([
    ['Algorithm', value.SchedulerAlgorithm],
    ...preemptions.map(
      ([, , field, type]) =>
        [`Preemption by ${type} jobs`, String(value.PreemptionConfig[field])] as const,
    ),
    ['Modify index', String(value.ModifyIndex)],
  ]);
  return exitCodes.ok;
}

export const schedulerGetConfig: ClientCommand = {
  words: ['operator', 'scheduler', 'get-config'],
  summary: 'Show the scheduler configuration.',
  definition: { isPaged: true },
  async run(context) {
    const { value } = await context.client.scheduler.configuration();
    return print(context, value.SchedulerConfig);
  },
};

export const schedulerSetConfig: ClientCommand = {
  words: ['operator', 'scheduler', 'set-config'],
  summary: 'Change the scheduler configuration.',
  definition: {
    options: [
      {
        name: 'scheduler-algorithm',
        value: 'WORD',
        choices: schedulerAlgorithms,
        description: 'binpack fills nodes one by one, spread levels their load.',
      },
      ...preemptions.map(
        ([name, , , type]): OptionDefinition => ({
          name,
          value: 'BOOL',
          choices: ['true', 'false'],
          description: `Whether ${type} jobs may evict jobs of lower priority.`,
        }),
      ),
      {
        name: 'check-index',
        value: 'INDEX',
        description: 'Only if the configuration has this modify index.',
      },
    ],
    details: 'Settings that are not given stay.',
  },
  async run(context, _words, options) {
    const { client } = context;
    const { value } = await client.scheduler.configuration();
    const before = value.SchedulerConfig;
    const cas = wholeNumberOption(options, 'check-index') ?? before.ModifyIndex;
    const answer = await client.scheduler.configure(changed(before, options), { cas });
    if (!answer.value.Updated) {
      throw new CliError('The configuration was changed meanwhile, and is left as it is.', {
        hint: 'Look at it with "roster operator scheduler get-config" and try again.',
      });
    }
    return print(context, (await client.scheduler.configuration()).value.SchedulerConfig);
  },
};

function changed(before: StoredSchedulerConfiguration, options: Options) {
  const preemption: Record<string, boolean> = { ...before.PreemptionConfig };
  for (const [name, key, field] of preemptions) {
    const word = options.text(key);
    if (word === undefined) continue;
    if (word !== 'true' && word !== 'false') {
      throw new CliError(`-${name} must be true or false, got "${word}".`);
    }
    preemption[field] = word === 'true';
  }
  return {
    SchedulerAlgorithm: options.text('schedulerAlgorithm') ?? before.SchedulerAlgorithm,
    PreemptionConfig: preemption,
  };
}
