import { body, duration, flag, freeMap, text, whole } from '../form.ts';

/** Source: docs/behaviour/job-specification.md#update-strategies. */
export const update = body({
  max_parallel: whole('MaxParallel', 'Number of allocations that are replaced at a time; 0: all.'),
  health_check: text('HealthCheck', 'The source of an allocation’s health.'),
  min_healthy_time: duration(
    'MinHealthyTime',
    'The time that an allocation has to stay healthy before it counts.',
  ),
  healthy_deadline: duration(
    'HealthyDeadline',
    'The time in which an allocation has to become healthy.',
  ),
  progress_deadline: duration(
    'ProgressDeadline',
    'The time within which the next allocation has to become healthy; 0: the first unhealthy allocation fails the deployment.',
  ),
  auto_revert: flag(
    'AutoRevert',
    'Whether a failed deployment rolls back to the last stable version.',
  ),
  auto_promote: flag('AutoPromote', 'Whether canaries are promoted as soon as all are healthy.'),
  canary: whole(
    'Canary',
    'Number of allocations of the new version that run beside the old allocations until they are promoted.',
  ),
  stagger: duration('Stagger', 'The wait between batches without a deployment.'),
});

export const migrate = body({
  max_parallel: whole('MaxParallel', 'Number of allocations that a drain moves at a time.'),
  health_check: text('HealthCheck', 'The source of an allocation’s health.'),
  min_healthy_time: duration(
    'MinHealthyTime',
    'The time that an allocation has to stay healthy before it counts.',
  ),
  healthy_deadline: duration(
    'HealthyDeadline',
    'The time in which an allocation has to become healthy.',
  ),
});

export const restart = body({
  attempts: whole('Attempts', 'Number of restarts in the interval.'),
  interval: duration('Interval', 'The time in which restarts are counted.'),
  delay: duration('Delay', 'The wait before a restart.'),
  mode: text('Mode', 'The action after the last attempt.'),
  render_templates: flag(
    'RenderTemplates',
    'Whether templates are rendered again at every restart.',
  ),
});

export const reschedule = body({
  attempts: whole('Attempts', 'Number of replacements in the interval.'),
  interval: duration('Interval', 'The time in which replacements are counted.'),
  delay: duration('Delay', 'The wait before the first replacement.'),
  delay_function: text('DelayFunction', 'How the wait grows: constant, exponential, fibonacci.'),
  max_delay: duration('MaxDelay', 'The longest wait.'),
  unlimited: flag('Unlimited', 'Whether the number of replacements is unlimited.'),
});

export const disconnect = body({
  lost_after: duration(
    'LostAfter',
    'The time for which an allocation on a disconnected node is unknown before it is lost.',
  ),
  stop_on_client_after: duration(
    'StopOnClientAfter',
    'The time after which a node that reaches no server stops the allocation. A lost allocation is replaced only after the same time.',
  ),
  replace: flag('Replace', 'Whether an unknown allocation is replaced.'),
  reconcile: text('Reconcile', 'Which allocation stays when the node returns.'),
});

export const ephemeralDisk = body({
  sticky: flag(
    'Sticky',
    'Whether replacements are preferably placed on the same node, and keep the data.',
  ),
  migrate: flag('Migrate', 'Whether the data moves to a replacement on another node.'),
  size: whole('SizeMB', 'Size in MB.'),
});

const scalingForms = {
  enabled: flag('Enabled', 'Whether autoscalers use the policy.'),
  min: whole('Min', 'The minimum.'),
  max: whole('Max', 'The maximum.'),
  policy: freeMap('Policy', 'Settings for the autoscaler, which the server does not interpret.'),
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
