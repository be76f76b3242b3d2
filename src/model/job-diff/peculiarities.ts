/**
 * The parts of the comparison of jobs that do not follow from the schema of a job. Names are those of the
 * schema, with dots for nested fields. Source: docs/behaviour/jobs.md#differences.
 */

/** Fields that the server sets, or that the difference tells elsewhere. */
export const leftOut: ReadonlySet<string> = new Set([
  'ID',
  'Status',
  'StatusDescription',
  'Version',
  'Stable',
  'Update',
  'SubmitTime',
  'CreateIndex',
  'ModifyIndex',
  'JobModifyIndex',
  'SchedulerTokenID',
  'SecretsToken',
  'TaskGroups',
  'TaskGroups.Name',
  'TaskGroups.Update.Stagger',
  'TaskGroups.Tasks',
  'TaskGroups.Tasks.Name',
]);

/** The name of a single block, for blocks of which there may be several. */
export const nameOfOne: Readonly<Record<string, string>> = {
  Actions: 'Action',
  Affinities: 'Affinity',
  Artifacts: 'Artifact',
  Checks: 'Check',
  Constraints: 'Constraint',
  Devices: 'Device',
  DynamicPorts: 'Dynamic Port',
  Identities: 'Identity',
  Links: 'Link',
  Networks: 'Network',
  Regions: 'Region',
  ReservedPorts: 'Static Port',
  ScalingPolicies: 'ScalingPolicy',
  SecretFetches: 'SecretFetch',
  Services: 'Service',
  Spreads: 'Spread',
  Templates: 'Template',
  VolumeMounts: 'VolumeMount',
  Volumes: 'Volume',
};

/**
 * The field that identifies a block in both jobs, so that a change of it is shown as an edit. `''`: its place
 * in the list. Other blocks are the same only if they are equal: an edited block is shown as deleted and
 * added.
 */
export const toldApartBy: Readonly<Record<string, string>> = {
  Actions: 'Name',
  Checks: 'Name',
  Devices: 'Name',
  DynamicPorts: 'Label',
  Identities: 'Name',
  Links: 'Label',
  Networks: '',
  Regions: 'Name',
  ReservedPorts: 'Label',
  ScalingPolicies: 'Type',
  SecretFetches: 'Name',
  Services: 'Name',
  SpreadTarget: 'Value',
  Templates: 'DestPath',
};

/** Lists of words without an order: a difference is a block with a field for each word. */
export const unordered: ReadonlySet<string> = new Set([
  'Datacenters',
  'Tags',
  'CanaryTags',
  'Policies',
  'Audience',
  'MetaRequired',
  'MetaOptional',
  'Specs',
  'MountFlags',
]);
