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
    enabled: flag('Enabled', 'Whether it is launched.'),
    cron: text('Spec', 'When it is launched; `crons` takes several.'),
    crons: texts('Specs', 'When it is launched, as cron expressions.'),
    time_zone: text('TimeZone', 'The time zone of these.'),
    prohibit_overlap: flag('ProhibitOverlap', 'Not while an earlier launch still runs.'),
  },
  { run: (fields) => ({ SpecType: 'cron', ...fields }), restates: { SpecType: ['SpecType'] } },
);

const parameterized = body({
  payload: text('Payload', 'Whether a dispatch has a payload.'),
  meta_required: texts('MetaRequired', 'Labels that a dispatch must give.'),
  meta_optional: texts('MetaOptional', 'Labels that a dispatch may give.'),
});

const strategy = body({
  max_parallel: whole('MaxParallel', 'How many regions are deployed at a time.'),
  on_failure: text('OnFailure', 'What a failure in one region does to the others.'),
});

const region = body({
  count: whole('Count', 'The count of groups that have the count 0.'),
  datacenters: texts('Datacenters', 'Instead of those of the job.'),
  node_pool: text('NodePool', 'Instead of that of the job.'),
  meta: textMap('Meta', 'Added to the labels of the job.'),
});

const multiregion = body({
  strategy: block('Strategy', strategy, 'How the regions are deployed.'),
  region: list('Regions', region, 'A region that it runs in.', {
    label: label('Name', 'The name of the region.'),
  }),
});

const ui = body({
  description: text('Description', 'What is shown of the job.'),
  link: list(
    'Links',
    body({ label: text('Label', 'The text.'), url: text('URL', 'Where it leads.') }),
    'A link that is shown with it.',
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
    id: text('ID', 'Another id than the label.'),
    name: text('Name', 'The name; the id when not given.'),
    type: text('Type', 'How it is scheduled.'),
    region: text('Region', 'The region that it runs in.'),
    namespace: text('Namespace', 'The namespace that it belongs to.'),
    priority: whole('Priority', 'Who goes first; more is sooner.'),
    all_at_once: flag('AllAtOnce', 'Place all of it or nothing.'),
    datacenters: texts('Datacenters', 'Where it may run; `*` stands for any text.'),
    node_pool: text('NodePool', 'The node pool that it runs in.'),
    meta: textMap('Meta', 'Labels; tasks see them as `ROSTER_META_NAME`.'),
    group: list('TaskGroups', group, 'Tasks that are placed together.', {
      label: label('Name', 'The name of the group.'),
    }),
    task: list('Tasks', task, 'A task that is a group of its own.', {
      label: label('Name', 'The name of the task and of its group.'),
    }),
    ...constraints,
    ...affinities,
    ...spreads,
    update: block('Update', update, 'For all its groups that do not say otherwise.'),
    migrate: block('Migrate', migrate, 'For all its groups that do not say otherwise.'),
    reschedule: block('Reschedule', reschedule, 'For all its groups that do not say otherwise.'),
    periodic: block('Periodic', periodic, 'It is launched by the clock.'),
    parameterized: block('ParameterizedJob', parameterized, 'It is launched by dispatches.'),
    multiregion: block('Multiregion', multiregion, 'It runs in several regions.'),
    ui: block('UI', ui, 'What people are shown of it.'),
    secrets: block('Secrets', secrets, 'For all its tasks that have none themselves.'),
    registry_token: text('RegistryToken', 'Checked at submission, never kept.'),
    secrets_token: text('SecretsToken', 'Checked at submission, never kept.'),
    secrets_namespace: text('SecretsNamespace', 'The namespace of its secrets.'),
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
