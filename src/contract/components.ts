import type { TSchema } from 'typebox';
import { AclPolicySchema } from '../model/acl-policy/acl-policy.ts';
import { AclRoleSchema } from '../model/acl-role/acl-role.ts';
import { AclTokenSchema } from '../model/acl-token/acl-token.ts';
import { AllocationSchema } from '../model/allocation/allocation.ts';
import { AllocationStubSchema } from '../model/allocation/allocation-stub.ts';
import { FileInfoSchema } from '../model/allocation/file-info.ts';
import { WholeAllocationSchema } from '../model/allocation/present.ts';
import { AllocationUsageSchema } from '../model/allocation/resource-usage.ts';
import { BindingRuleSchema } from '../model/binding-rule/binding-rule.ts';
import { CheckResultSchema } from '../model/check-result/check-result.ts';
import { DeploymentSchema } from '../model/deployment/deployment.ts';
import { PresentedEvaluationSchema } from '../model/evaluation/present.ts';
import { EventSchema } from '../model/event/event.ts';
import {
  AllocationExplanationSchema,
  JobProspectSchema,
} from '../model/explanation/explanation.ts';
import { JobSchema } from '../model/job/job.ts';
import { JobActionSchema } from '../model/job/job-action.ts';
import { JobStatusesSchema } from '../model/job/job-statuses.ts';
import { JobStubSchema } from '../model/job/job-stub.ts';
import { JobDiffSchema } from '../model/job-diff/job-diff.ts';
import { JobPlanSchema } from '../model/job-plan/job-plan.ts';
import { JobPolicySchema } from '../model/job-policy/job-policy.ts';
import { JobSubmissionSchema } from '../model/job-submission/job-submission.ts';
import { JobSummarySchema } from '../model/job-summary/job-summary.ts';
import { KeyringKeySchema } from '../model/keyring/keyring-key.ts';
import { NamespaceSchema } from '../model/namespace/namespace.ts';
import { NodeRegistrationSchema } from '../model/node/node.ts';
import { NodeUsageSchema } from '../model/node/node-usage.ts';
import { PresentedNodeSchema } from '../model/node/present.ts';
import { NodePoolSchema } from '../model/node-pool/node-pool.ts';
import { PartitionSchema } from '../model/partition/partition.ts';
import { FoundInstanceSchema } from '../model/peering/imported.ts';
import { PeeringSchema } from '../model/peering/peering.ts';
import { RegisteredPolicySchema } from '../model/scaling-policy/registered-policy.ts';
import { ServiceRegistrationSchema } from '../model/service-registration/service-registration.ts';
import { TaskSchema } from '../model/task/task.ts';
import { TaskGroupSchema } from '../model/task-group/task-group.ts';
import { TemplatedPolicySchema } from '../model/templated-policy/templated-policy.ts';
import { VariableMetadataSchema, VariableSchema } from '../model/variable/variable.ts';

/** The nouns with a named schema in the OpenAPI document. */
export const components: Readonly<Record<string, TSchema>> = {
  AclPolicy: AclPolicySchema,
  AclRole: AclRoleSchema,
  AclToken: AclTokenSchema,
  Allocation: AllocationSchema,
  AllocationExplanation: AllocationExplanationSchema,
  AllocationStub: AllocationStubSchema,
  AllocationUsage: AllocationUsageSchema,
  AllocationWithJob: WholeAllocationSchema,
  BindingRule: BindingRuleSchema,
  CheckResult: CheckResultSchema,
  Deployment: DeploymentSchema,
  Evaluation: PresentedEvaluationSchema,
  Event: EventSchema,
  FileInfo: FileInfoSchema,
  Job: JobSchema,
  JobAction: JobActionSchema,
  JobDiff: JobDiffSchema,
  JobPlan: JobPlanSchema,
  JobPolicy: JobPolicySchema,
  JobProspect: JobProspectSchema,
  JobStatuses: JobStatusesSchema,
  JobStub: JobStubSchema,
  JobSubmission: JobSubmissionSchema,
  JobSummary: JobSummarySchema,
  KeyringKey: KeyringKeySchema,
  Namespace: NamespaceSchema,
  Node: PresentedNodeSchema,
  NodePool: NodePoolSchema,
  NodeRegistration: NodeRegistrationSchema,
  NodeUsage: NodeUsageSchema,
  Partition: PartitionSchema,
  Peering: PeeringSchema,
  ScalingPolicy: RegisteredPolicySchema,
  ServiceInstance: FoundInstanceSchema,
  ServiceRegistration: ServiceRegistrationSchema,
  Task: TaskSchema,
  TaskGroup: TaskGroupSchema,
  TemplatedPolicy: TemplatedPolicySchema,
  Variable: VariableSchema,
  VariableMetadata: VariableMetadataSchema,
};
