/**
 * What the difference of two jobs does not take from the schema of a job alone. Names are those of
 * the schema, with dots for what stands inside. Source: docs/behaviour/jobs.md#differences.
 */

/** The server's own, or told of elsewhere in the difference. */
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

/** Blocks of which there may be several are called by what each of them is. */
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
 * What tells which block of the one job is which of the other, so that it shows as edited. `''`: its
 * place in the list. Blocks without such a name are the same only if all of them is: an edited one
 * shows as one deleted and one added.
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

/** Lists of words whose order says nothing: a block with one field a word. */
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
