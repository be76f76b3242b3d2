/** The fields of stored rows, held against the schemas of their nouns. */
import type { TSchema } from 'typebox';
import { AclPolicySchema } from '../../model/acl-policy/acl-policy.ts';
import { AclRoleSchema } from '../../model/acl-role/acl-role.ts';
import { AllocationSchema } from '../../model/allocation/allocation.ts';
import { AuthMethodSchema } from '../../model/auth-method/auth-method.ts';
import { BindingRuleSchema } from '../../model/binding-rule/binding-rule.ts';
import { DeploymentSchema } from '../../model/deployment/deployment.ts';
import { EvaluationSchema } from '../../model/evaluation/evaluation.ts';
import { IntroductionTokenSchema } from '../../model/introduction-token/introduction-token.ts';
import { JobSchema } from '../../model/job/job.ts';
import { JobPolicySchema } from '../../model/job-policy/job-policy.ts';
import { JobSubmissionSchema } from '../../model/job-submission/job-submission.ts';
import { JobSummarySchema } from '../../model/job-summary/job-summary.ts';
import { KeyringKeySchema } from '../../model/keyring/keyring-key.ts';
import { NamespaceSchema } from '../../model/namespace/namespace.ts';
import { NodeSchema } from '../../model/node/node.ts';
import { NodePoolSchema } from '../../model/node-pool/node-pool.ts';
import { PartitionSchema } from '../../model/partition/partition.ts';
import { ImportedServiceSchema } from '../../model/peering/imported.ts';
import { StoredPeeringSchema } from '../../model/peering/peering.ts';
import { PeriodicLaunchSchema } from '../../model/periodic-launch/periodic-launch.ts';
import { ScalingHistorySchema } from '../../model/scaling-event/scaling-event.ts';
import { RegisteredPolicySchema } from '../../model/scaling-policy/registered-policy.ts';
import { SchedulerConfigurationSchema } from '../../model/scheduler-configuration/scheduler-configuration.ts';
import { ServiceRegistrationSchema } from '../../model/service-registration/service-registration.ts';
import { VariableMetadataSchema } from '../../model/variable/variable.ts';
import type { StoreDamage } from '../engine/salvage/examined-store.ts';
import type { View } from '../view.ts';
import { salvageLimits } from './limits.ts';

/** By table. The rows of the other tables are stored in a form of their own, without a schema. */
const schemas: Readonly<Record<string, TSchema>> = {
  jobs: JobSchema,
  'job-versions': JobSchema,
  'job-summaries': JobSummarySchema,
  'job-submissions': JobSubmissionSchema,
  'job-policies': JobPolicySchema,
  'scaling-events': ScalingHistorySchema,
  'scaling-policies': RegisteredPolicySchema,
  'periodic-launches': PeriodicLaunchSchema,
  evaluations: EvaluationSchema,
  allocations: AllocationSchema,
  'service-registrations': ServiceRegistrationSchema,
  deployments: DeploymentSchema,
  nodes: NodeSchema,
  'introduction-tokens': IntroductionTokenSchema,
  'node-pools': NodePoolSchema,
  'scheduler-configuration': SchedulerConfigurationSchema,
  partitions: PartitionSchema,
  namespaces: NamespaceSchema,
  'acl-policies': AclPolicySchema,
  'acl-roles': AclRoleSchema,
  'auth-methods': AuthMethodSchema,
  'binding-rules': BindingRuleSchema,
  'keyring-keys': KeyringKeySchema,
  variables: VariableMetadataSchema,
  peerings: StoredPeeringSchema,
  'imported-services': ImportedServiceSchema,
};

/**
 * The fields that have another type than the schema says, the first of each row, and as many as a person reads. Absent fields and bounds are no fault: a
 * program of another version may have written the row. No value is in a fault, since it may be a secret.
 */
export function typeFaults({ tables }: View): readonly StoreDamage[] {
  const faults: StoreDamage[] = [];
  for (const table of tables.values()) {
    const { name, key } = table.definition;
    const schema = schemas[name];
    if (schema === undefined) continue;
    for (const row of table.scan()) {
      const found = fieldFault(schema as Shape, row, '');
      if (found === undefined) continue;
      const at = `the row ${key(row).join('/')} of the table ${name}, field ${found.field}`;
      faults.push({ at, fault: `it is no ${found.wanted}; a repair keeps the row as it is` });
      if (faults.length === salvageLimits.typeFaultsMax) return faults;
    }
  }
  return faults;
}

interface Shape {
  readonly type?: string;
  readonly anyOf?: readonly Shape[];
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly additionalProperties?: Shape | boolean;
  readonly patternProperties?: Readonly<Record<string, Shape>>;
  readonly items?: Shape;
}

interface FieldFault {
  readonly field: string;
  readonly wanted: string;
}

/** The first field that is of another type; `undefined`: there is none. */
function fieldFault(shape: Shape, value: unknown, field: string): FieldFault | undefined {
  if (value === undefined) return undefined;
  if (shape.anyOf !== undefined) {
    const found = shape.anyOf.map((one) => fieldFault(one, value, field));
    if (found.includes(undefined)) return undefined;
    // The branch that fits best has its fault deepest.
    return found.toSorted((left, right) => right!.field.length - left!.field.length)[0];
  }
  const { type } = shape;
  if (type !== undefined && !isOf(type, value)) return { field, wanted: wantedOf(type) };
  if (type === 'array' && shape.items !== undefined) {
    return firstFault((value as readonly unknown[]).entries(), () => shape.items, field);
  }
  if (type !== 'object') return undefined;
  const others = [shape.additionalProperties, ...Object.values(shape.patternProperties ?? {})].find(
    (one) => typeof one === 'object',
  );
  const shapeOf = (name: string | number) =>
    Object.hasOwn(shape.properties ?? {}, name) ? shape.properties![name] : others;
  return firstFault(Object.entries(value as object), shapeOf, field);
}

function firstFault(
  entries: Iterable<readonly [string | number, unknown]>,
  shapeOf: (name: string | number) => Shape | undefined,
  above: string,
): FieldFault | undefined {
  for (const [name, value] of entries) {
    const shape = shapeOf(name);
    const field = above === '' ? `${name}` : `${above}/${name}`;
    const found = shape && fieldFault(shape, value, field);
    if (found !== undefined) return found;
  }
  return undefined;
}

const wantedOf = (type: string): string => (type === 'string' ? 'text' : type);

function isOf(type: string, value: unknown): boolean {
  if (type === 'integer') return Number.isInteger(value);
  if (type === 'null') return value === null;
  if (type === 'array') return Array.isArray(value);
  if (type === 'object') {
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  }
  return typeof value === type;
}
