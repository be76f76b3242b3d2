/** Warnings of references in a job that no node can fill in, with their places. */
import type { Steps } from '../../base/steps.ts';
import { limits } from '../limits.ts';
import { below, type Path, type Report } from '../path.ts';
import type { Service } from '../service/service.ts';
import {
  devicePlace,
  mayRefer,
  plainPlace,
  type ReferencePlace,
  referenceFaults,
  rulePlace,
} from '../task/reference.ts';
import type { Task } from '../task/task.ts';
import { ownVariables } from '../task/task-variables.ts';
import type { TaskGroup } from '../task-group/task-group.ts';
import type { Job } from './job.ts';

/** Warns of each reference once for each text, task by task. */
export function* warnOfReferences(job: Job, warn: Report): Steps<void> {
  const check = checker(warn);
  checkRules(job, null, check);
  check(job.Meta, below(null, 'Meta'), plainPlace);
  for (const [index, group] of job.TaskGroups.entries()) {
    const path = below(null, 'TaskGroups', index);
    checkGroup(job, group, path, check);
    yield;
    for (const [at, task] of group.Tasks.entries()) {
      checkTask({ job, group, task }, below(path, 'Tasks', at), check);
      yield;
    }
  }
}

/** Checks every text in a value, at any depth. */
type Check = (value: unknown, path: Path, place: ReferencePlace) => void;

/** Bounded, because a text may have any number of references, and each is compared with all known names. */
function checker(warn: Report): Check {
  let left: number = limits.fault.warningsMax;
  const check: Check = (value, path, place) => {
    if (typeof value === 'string') {
      if (!mayRefer(value)) return;
      for (const fault of referenceFaults(value, place)) {
        if (left-- <= 0) return;
        warn(path, fault);
      }
    } else if (Array.isArray(value)) {
      value.forEach((inner, index) => {
        if (isToCheck(inner)) check(inner, below(path, index), place);
      });
    } else if (typeof value === 'object' && value !== null) {
      for (const key of Object.keys(value)) {
        const inner = (value as Readonly<Record<string, unknown>>)[key];
        if (isToCheck(inner)) check(inner, below(path, key), place);
      }
    }
  };
  return check;
}

/** Most values need no path. */
const isToCheck = (value: unknown): boolean =>
  typeof value === 'string' ? mayRefer(value) : typeof value === 'object' && value !== null;

/** How a field is checked. */
interface Manner {
  readonly check: Check;
  readonly place: ReferencePlace;
}

function checkField(value: unknown, path: Path, field: string, { check, place }: Manner): void {
  if (isToCheck(value)) check(value, below(path, field), place);
}

type Rules = Pick<Task, 'Constraints' | 'Affinities'> & Partial<Pick<TaskGroup, 'Spreads'>>;

function checkRules(rules: Rules, path: Path, check: Check, place = rulePlace): void {
  rules.Constraints?.forEach((rule, index) => {
    // `is_set` and `is_not_set` may name an attribute that no node has.
    if (/^is_(not_)?set$/.test(rule.Operand)) return;
    check(rule, below(path, 'Constraints', index), place);
  });
  checkField(rules.Affinities, path, 'Affinities', { check, place });
  checkField(rules.Spreads, path, 'Spreads', { check, place });
}

function checkGroup(job: Job, group: TaskGroup, path: Path, check: Check): void {
  checkRules(group, path, check);
  checkField(group.Meta, path, 'Meta', { check, place: plainPlace });
  checkField(group.Networks, path, 'Networks', { check, place: plainPlace });
  group.Services?.forEach((service, index) => {
    const task = group.Tasks.find(({ Name }) => Name === service.TaskName);
    checkService(service, below(path, 'Services', index), check, placeIn(job, group, task));
  });
}

function checkService(service: Service, path: Path, check: Check, place: ReferencePlace): void {
  // `without-effect.ts` warns of these fields.
  const { Connect, Name, ...filled } = service;
  check(filled, path, place);
  check(Name, below(path, 'Name'), place);
}

/** Fields of a task whose references are filled in. In other fields references stay as they are. */
const filledIn = [
  'Config',
  'User',
  'Artifacts',
  'Services',
  'VolumeMounts',
  'Identity',
  'Identities',
  'DispatchPayload',
] as const satisfies readonly (keyof Task)[];
const notFilledIn = ['Meta', 'Actions', 'KillSignal'] as const satisfies readonly (keyof Task)[];

interface TaskInJob {
  readonly job: Job;
  readonly group: TaskGroup;
  readonly task: Task;
}

function checkTask({ job, group, task }: TaskInJob, path: Path, check: Check): void {
  const place = placeIn(job, group, task);
  checkRules(task, path, check);
  task.Resources.Devices?.forEach((device, index) => {
    checkRules(device, below(path, 'Resources', 'Devices', index), check, devicePlace);
  });
  const inTask = { check, place };
  const plainly = { check, place: plainPlace };
  for (const field of filledIn) checkField(task[field], path, field, inTask);
  for (const field of notFilledIn) checkField(task[field], path, field, plainly);
  // Variables cannot refer to each other.
  const before = new TaskPlace(() => ownVariables(job, group, task), false);
  for (const [name, value] of Object.entries(task.Env ?? {})) {
    check(name, below(path, 'Env', name), before);
    check(value, below(path, 'Env', name), before);
  }
  task.Templates?.forEach((template, index) => {
    const at = below(path, 'Templates', index);
    const { SourcePath, DestPath, EmbeddedTmpl, ChangeScript } = template;
    check({ SourcePath, DestPath }, at, place);
    check({ EmbeddedTmpl, ChangeScript }, at, plainPlace);
  });
}

function placeIn(job: Job, group: TaskGroup, task: Task | undefined): ReferencePlace {
  const hasMore = task?.Templates?.some(({ Envvars }) => Envvars) ?? false;
  return new TaskPlace(
    () => new Set([...ownVariables(job, group, task), ...Object.keys(task?.Env ?? {})]),
    hasMore,
  );
}

/** A place in a task, whose variables are gathered once a reference is found. */
class TaskPlace implements ReferencePlace {
  readonly kind = 'task';
  readonly hasMore: boolean;
  readonly #gather: () => ReadonlySet<string>;
  #variables: ReadonlySet<string> | undefined;

  constructor(gather: () => ReadonlySet<string>, hasMore: boolean) {
    this.#gather = gather;
    this.hasMore = hasMore;
  }

  get variables(): ReadonlySet<string> {
    this.#variables ??= this.#gather();
    return this.#variables;
  }
}
