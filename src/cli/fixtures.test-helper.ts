/** Records as the API answers them, for tests. */

import { instantText, noInstant } from '../base/instant.ts';
import type { Allocation } from '../model/allocation/allocation.ts';
import type { PlacementMetrics } from '../model/allocation/placement-metrics.ts';
import type { TaskEvent } from '../model/allocation/task-state.ts';
import type { Deployment, DeploymentGroup } from '../model/deployment/deployment.ts';
import type { PresentedEvaluation } from '../model/evaluation/present.ts';
import { canonicalizeJob } from '../model/job/canonicalize.ts';
import { nowMs } from './harness.test-helper.ts';

export const secondsAgo = (seconds: number): number => (nowMs - seconds * 1000) * 1e6;

export const ids = {
  evaluation: 'e1e1e1e1-0000-4000-8000-000000000001',
  blocked: 'b1b1b1b1-0000-4000-8000-000000000002',
  first: 'a0a0a0a0-0000-4000-8000-000000000000',
  second: 'a1a1a1a1-0000-4000-8000-000000000001',
  node: 'd0d0d0d0-0000-4000-8000-000000000000',
  deployment: 'd1d1d1d1-0000-4000-8000-000000000001',
} as const;

/** A complete job, as a server answers it. */
export const job = (over: object = {}) =>
  canonicalizeJob({
    ID: 'web',
    Datacenters: ['dc1', 'dc2'],
    TaskGroups: [
      { Name: 'front', Tasks: [{ Name: 'server', Driver: 'exec', Config: { command: 'x' } }] },
    ],
    Status: 'running',
    Version: 2,
    SubmitTime: secondsAgo(310),
    JobModifyIndex: 12,
    ...over,
  });

const counts = {
  Queued: 0,
  Starting: 1,
  Running: 2,
  Failed: 0,
  Complete: 0,
  Lost: 0,
  Unknown: 0,
};

export const summary = { JobID: 'web', Namespace: 'default', Summary: { front: counts } };

export const jobStub = (over: object = {}) => ({ ...job(over), JobSummary: summary });

export const event = (Type: string, DisplayMessage: string, secondsBefore: number) =>
  ({
    Type,
    DisplayMessage,
    Message: '',
    Time: secondsAgo(secondsBefore),
  }) as TaskEvent;

export const allocation = (over: Partial<Allocation> = {}) => ({
  ID: ids.first,
  Namespace: 'default',
  EvalID: ids.evaluation,
  Name: 'web.front[0]',
  NodeID: ids.node,
  NodeName: 'one',
  JobID: 'web',
  JobVersion: 2,
  TaskGroup: 'front',
  DesiredStatus: 'run',
  DesiredDescription: '',
  ClientStatus: 'running',
  ClientDescription: 'Tasks are running',
  AllocatedResources: {
    Tasks: {
      server: { Cpu: { CpuShares: 50 }, Memory: { MemoryMB: 64, MemoryMaxMB: 0 } },
    },
    Shared: {
      DiskMB: 300,
      Ports: [
        { Label: 'http', Value: 20123, To: 0, HostIP: '127.0.0.1' },
        { Label: 'admin', Value: 20124, To: 8080, HostIP: '::1' },
      ],
    },
  },
  TaskStates: {
    server: {
      State: 'running',
      Failed: false,
      Restarts: 1,
      StartedAt: new Date(nowMs - 60_000).toISOString(),
      FinishedAt: '0001-01-01T00:00:00Z',
      Events: [
        event('Received', 'Task received by the node', 62),
        event('Started', 'Task started', 60),
      ],
    },
  },
  PreviousAllocation: '',
  NextAllocation: '',
  FollowupEvalID: '',
  CreateIndex: 13,
  CreateTime: secondsAgo(65),
  ModifyTime: secondsAgo(60),
  ...over,
});

export const second = { ID: ids.second, Name: 'web.front[1]' } as const;

export const metrics = (over: Partial<PlacementMetrics> = {}): PlacementMetrics => ({
  NodesEvaluated: 3,
  NodesFiltered: 1,
  NodesInPool: 3,
  NodePool: 'default',
  NodesAvailable: { dc1: 3 },
  ClassFiltered: null,
  ConstraintFiltered: null,
  NodesExhausted: 0,
  ClassExhausted: null,
  DimensionExhausted: null,
  QuotaExhausted: null,
  ResourcesExhausted: null,
  Scores: null,
  ScoreMetaData: null,
  AllocationTime: 1000,
  CoalescedFailures: 0,
  ...over,
});

export const evaluation = (over: Partial<PresentedEvaluation> = {}) => ({
  ID: ids.evaluation,
  Namespace: 'default',
  Priority: 50,
  Type: 'service',
  TriggeredBy: 'job-register',
  JobID: 'web',
  Status: 'complete',
  StatusDescription: '',
  WaitUntil: noInstant,
  NodeID: '',
  DeploymentID: '',
  PreviousEval: '',
  NextEval: '',
  BlockedEval: '',
  FailedTGAllocs: null,
  QueuedAllocations: { front: 0 },
  CreateIndex: 12,
  CreateTime: secondsAgo(66),
  ...over,
});

export const node = (over: object = {}) => ({
  ID: ids.node,
  Name: 'one',
  Datacenter: 'dc1',
  NodeClass: '',
  NodePool: 'default',
  Status: 'ready',
  StatusDescription: '',
  SchedulingEligibility: 'eligible',
  Drain: false,
  NodeResources: {
    Cpu: { CpuShares: 4000, TotalCpuCores: 2 },
    Memory: { MemoryMB: 3900 },
    Disk: { DiskMB: 20_000 },
  },
  Drivers: {
    raw_exec: { Detected: true, Healthy: true, HealthDescription: 'ready' },
    docker: { Detected: false, Healthy: false, HealthDescription: 'no socket' },
  },
  Events: [
    { Message: 'Node registered', Subsystem: 'cluster', Timestamp: instantText(secondsAgo(400)) },
  ],
  Attributes: { 'kernel.name': 'linux', 'cpu.arch': 'amd64' },
  Meta: { rack: 'r1' },
  CreateIndex: 5,
  ModifyIndex: 6,
  ...over,
});

export const deploymentGroup = (over: Partial<DeploymentGroup> = {}): DeploymentGroup => ({
  AutoRevert: true,
  AutoPromote: false,
  Promoted: false,
  PlacedCanaries: null,
  DesiredCanaries: 0,
  DesiredTotal: 2,
  PlacedAllocs: 1,
  HealthyAllocs: 0,
  UnhealthyAllocs: 0,
  ProgressDeadline: 600e9,
  RequireProgressBy: new Date(nowMs + 310_000).toISOString(),
  ...over,
});

/** A deployment of the job of `registered`. */
export const deployment = (
  over: Partial<Deployment> = {},
  group: Partial<DeploymentGroup> = {},
): Deployment => ({
  ID: ids.deployment,
  Namespace: 'default',
  JobID: 'web',
  JobVersion: 2,
  JobModifyIndex: 12,
  JobSpecModifyIndex: 12,
  JobCreateIndex: 5,
  IsMultiregion: false,
  TaskGroups: { front: deploymentGroup(group) },
  Status: 'running',
  StatusDescription: 'Deployment is running',
  EvalPriority: 50,
  CreateIndex: 13,
  ModifyIndex: 13,
  CreateTime: secondsAgo(66),
  ModifyTime: secondsAgo(5),
  ...over,
});

export const registered = {
  EvalID: ids.evaluation,
  EvalCreateIndex: 12,
  JobModifyIndex: 12,
  Warnings: '',
  Index: 12,
};
