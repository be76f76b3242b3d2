import { body, duration, flag, freeMap, text, whole } from '../form.ts';

/** Source: docs/behaviour/job-specification.md#update-strategies. */
export const update = body({
  max_parallel: whole('MaxParallel', 'How many allocations are replaced at a time; 0: all.'),
  health_check: text('HealthCheck', 'What says that an allocation is healthy.'),
  min_healthy_time: duration('MinHealthyTime', 'How long it has to be healthy to count as such.'),
  healthy_deadline: duration('HealthyDeadline', 'When it has to be healthy at the latest.'),
  progress_deadline: duration(
    'ProgressDeadline',
    'How long a deployment may go without another healthy allocation; 0: it fails with the first unhealthy one.',
  ),
  auto_revert: flag('AutoRevert', 'Go back to the last stable version when a deployment fails.'),
  auto_promote: flag('AutoPromote', 'Promote canaries as soon as all are healthy.'),
  canary: whole('Canary', 'How many allocations of the new version run beside the old ones first.'),
  stagger: duration('Stagger', 'Pause between batches where there is no deployment.'),
});

export const migrate = body({
  max_parallel: whole('MaxParallel', 'How many allocations a drain moves at a time.'),
  health_check: text('HealthCheck', 'What says that an allocation is healthy.'),
  min_healthy_time: duration('MinHealthyTime', 'How long it has to be healthy to count as such.'),
  healthy_deadline: duration('HealthyDeadline', 'When it has to be healthy at the latest.'),
});

export const restart = body({
  attempts: whole('Attempts', 'How many restarts there may be within the interval.'),
  interval: duration('Interval', 'The time in which restarts are counted.'),
  delay: duration('Delay', 'Pause before a restart.'),
  mode: text('Mode', 'What happens when the attempts are used up.'),
  render_templates: flag('RenderTemplates', 'Render the templates anew with every restart.'),
});

export const reschedule = body({
  attempts: whole('Attempts', 'How many replacements there may be within the interval.'),
  interval: duration('Interval', 'The time in which replacements are counted.'),
  delay: duration('Delay', 'Pause before the first replacement.'),
  delay_function: text('DelayFunction', 'How the pause grows: constant, exponential, fibonacci.'),
  max_delay: duration('MaxDelay', 'The longest pause.'),
  unlimited: flag('Unlimited', 'Replace without end.'),
});

export const disconnect = body({
  lost_after: duration('LostAfter', 'How long a node may be away before its work counts as lost.'),
  stop_on_client_after: duration(
    'StopOnClientAfter',
    'How long a node without servers goes on with it before the node stops it; a replacement waits as long.',
  ),
  replace: flag('Replace', 'Run a replacement while the node is away.'),
  reconcile: text('Reconcile', 'Which one stays when the node is back.'),
});

export const ephemeralDisk = body({
  sticky: flag('Sticky', 'Place replacements on the same node and keep the data.'),
  migrate: flag('Migrate', 'Take the data along to another node.'),
  size: whole('SizeMB', 'Size in MB.'),
});

const scalingForms = {
  enabled: flag('Enabled', 'Whether the policy counts.'),
  min: whole('Min', 'The least it may be scaled to.'),
  max: whole('Max', 'The most it may be scaled to.'),
  policy: freeMap('Policy', 'For the autoscaler; not looked at.'),
};

/** The label is only a name. */
export const groupScaling = body(
  { ...scalingForms, type: text('Type', 'The kind of policy.') },
  {
    run: ({ label, ...fields }) => fields,
    restates: { label: [] },
  },
);

const resourceTypes: Readonly<Record<string, string>> = {
  cpu: 'vertical_cpu',
  mem: 'vertical_mem',
};

export const taskScaling = body(scalingForms, {
  run: ({ label, ...fields }, complain) => {
    const type = resourceTypes[String(label)];
    if (type === undefined) complain('The label of a task\'s scaling is "cpu" or "mem"');
    return { ...fields, Type: type };
  },
  restates: { label: ['Type'] },
});
