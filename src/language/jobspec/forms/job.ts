import {
  type BlockForm,
  block,
  body,
  type Fields,
  flag,
  label,
  list,
  text,
  textMap,
  texts,
  whole,
} from '../form.ts';
import { group, handDown } from './group.ts';
import { affinities, constraints, spreads } from './placement.ts';
import { migrate, reschedule, update } from './policies.ts';
import { secrets } from './secrets.ts';
import { task } from './task.ts';

/** Source: docs/behaviour/job-specification.md#periodic-and-parameterized-jobs. */
const periodic = body(
  {
    enabled: flag('Enabled', 'Whether the job is launched.'),
    cron: text('Spec', 'A single cron expression, in place of `crons`.'),
    crons: texts('Specs', 'Cron expressions; the job is launched at each of their times.'),
    time_zone: text('TimeZone', 'The time zone of the expressions.'),
    prohibit_overlap: flag(
      'ProhibitOverlap',
      'Whether a launch is skipped while an earlier launch still runs.',
    ),
  },
  { run: (fields) => ({ SpecType: 'cron', ...fields }), restates: { SpecType: ['SpecType'] } },
);

const parameterized = body({
  payload: text('Payload', 'Whether a dispatch has a payload.'),
  meta_required: texts('MetaRequired', 'Labels that a dispatch must give.'),
  meta_optional: texts('MetaOptional', 'Labels that a dispatch may give.'),
});

const strategy = body({
  max_parallel: whole('MaxParallel', 'Number of regions at the same time.'),
  on_failure: text('OnFailure', 'The regions that fail when a region fails.'),
});

const region = body({
  count: whole('Count', 'The count of groups that have the count 0.'),
  datacenters: texts('Datacenters', 'Replaces the job’s datacenters.'),
  node_pool: text('NodePool', 'Replaces the job’s node pool.'),
  meta: textMap('Meta', 'Added to the labels of the job.'),
});

const multiregion = body({
  strategy: block('Strategy', strategy, 'The rollout from region to region.'),
  region: list('Regions', region, 'A region of the job.', {
    label: label('Name', 'The name of the region.'),
  }),
});

const ui = body({
  description: text('Description', 'A description of the job.'),
  link: list(
    'Links',
    body({ label: text('Label', 'The text.'), url: text('URL', 'The address of the link.') }),
    'A link to a further page.',
  ),
});

/** A task directly in the job makes a group of the same name. */
function gather({ Secrets, Tasks, ...fields }: Fields): Fields {
  const groups = (fields.TaskGroups ?? []) as readonly Fields[];
  const own = ((Tasks ?? []) as readonly Fields[]).map((one) => ({
    Name: one.Name,
    Tasks: [one],
  }));
  const all = [...groups, ...own].map((one) => ({ ...one, ...handDown(Secrets, one.Tasks) }));
  return all.length === 0 ? fields : { ...fields, TaskGroups: all };
}

/** Source: docs/contract/jobs.md#a-job, docs/behaviour/job-specification.md#the-job. */
const job = body(
  {
    id: text('ID', 'The id, if it differs from the label.'),
    name: text('Name', 'The name; by default the id.'),
    type: text('Type', 'How the job is scheduled.'),
    region: text('Region', 'The region of the job.'),
    namespace: text('Namespace', 'The namespace of the job.'),
    priority: whole('Priority', 'Jobs with a higher priority are scheduled first.'),
    all_at_once: flag('AllAtOnce', 'Whether a plan places all its allocations or none.'),
    datacenters: texts('Datacenters', 'The datacenters of the job; `*` stands for any text.'),
    node_pool: text('NodePool', 'The node pool of the job.'),
    meta: textMap('Meta', 'Labels; tasks see them as `ROSTER_META_NAME`.'),
    group: list('TaskGroups', group, 'Tasks that are placed together.', {
      label: label('Name', 'The name of the group.'),
    }),
    task: list('Tasks', task, 'A task in a group of its own.', {
      label: label('Name', 'The name of the task and of its group.'),
    }),
    ...constraints,
    ...affinities,
    ...spreads,
    update: block('Update', update, 'Default for its groups.'),
    migrate: block('Migrate', migrate, 'Default for its groups.'),
    reschedule: block('Reschedule', reschedule, 'Default for its groups.'),
    periodic: block('Periodic', periodic, 'The schedule of a periodic job.'),
    parameterized: block(
      'ParameterizedJob',
      parameterized,
      'The dispatches of a parameterized job.',
    ),
    multiregion: block('Multiregion', multiregion, 'The regions of the job; without effect.'),
    ui: block('UI', ui, 'Description and links for a web interface.'),
    secrets: block('Secrets', secrets, 'Default for its tasks.'),
    registry_token: text('RegistryToken', 'Checked at submission, never kept.'),
    secrets_token: text('SecretsToken', 'Checked at submission, never kept.'),
    secrets_namespace: text('SecretsNamespace', 'The namespace of the job’s secrets.'),
  },
  {
    run: gather,
    restates: { Secrets: ['TaskGroups'], Tasks: ['TaskGroups'] },
  },
);

/** The block that every job file has. */
export const jobBlock: BlockForm = list('Job', job, 'The job.', {
  label: label('ID', 'The id of the job.'),
});
