import { limits } from '../../model/limits.ts';

/** The numbers of a group of rows, in columns. */
export class Figures {
  readonly labels: Readonly<Record<string, string>>;
  readonly values: number[];
  readonly #whole: Figures | undefined;
  readonly #drop: () => void;
  #rows = 0;

  constructor(
    labels: Readonly<Record<string, string>>,
    columns: number,
    whole: Figures | undefined,
    drop: () => void,
  ) {
    this.labels = labels;
    this.values = new Array(columns).fill(0);
    this.#whole = whole;
    this.#drop = drop;
  }

  /** Counts here and in every group that holds this one. */
  add(column: number, by: number): void {
    this.values[column]! += by;
    this.#whole?.add(column, by);
  }

  /** A row of the group is stored, or with -1 no longer. A group without rows is forgotten. */
  hold(by: 1 | -1): void {
    this.#rows += by;
    if (this.#rows === 0) this.#drop();
    this.#whole?.hold(by);
  }
}

/** Names of labels, and the number of groups up to which each has series of its own. */
export interface Level {
  readonly labels: readonly string[];
  readonly groupsMax: number;
}

/**
 * Numbers of rows by groups of labels, from the finest groups to the coarsest. All levels are kept, so that it costs
 * nothing to tell the finest of them that has not too many groups.
 */
export class Counts {
  readonly #levels: readonly (Level & { readonly groups: Map<string, Figures> })[];
  readonly #columns: number;

  /** The labels of each level are among those of the level before. The last level takes any number of groups. */
  constructor(columns: number, levels: readonly Level[]) {
    this.#columns = columns;
    this.#levels = levels.map((level) => ({ ...level, groups: new Map() }));
  }

  /** The group with these values of the labels of the finest level. */
  at(...values: readonly string[]): Figures {
    const { labels, groups } = this.#levels[0]!;
    const known = groups.get(values.join('\0'));
    if (known !== undefined) return known;
    return this.#groupOf(0, Object.fromEntries(labels.map((name, at) => [name, values[at]!])))!;
  }

  /** Whether there are too many groups of the finest level. */
  get isLimited(): boolean {
    return this.#told !== this.#levels[0];
  }

  /** The finest groups that are not too many. */
  groups(): Iterable<Figures> {
    return this.#told.groups.values();
  }

  /** The coarsest groups that still tell apart the values of this label, however many they are. */
  byLabel(name: string): Iterable<Figures> {
    return this.#levels.findLast(({ labels }) => labels.includes(name))!.groups.values();
  }

  get #told() {
    return this.#levels.find(({ groups, groupsMax }) => groups.size <= groupsMax)!;
  }

  #groupOf(at: number, given: Readonly<Record<string, string>>): Figures | undefined {
    const level = this.#levels[at];
    if (level === undefined) return undefined;
    const labels = Object.fromEntries(level.labels.map((name) => [name, given[name]!]));
    const key = Object.values(labels).join('\0');
    const known = level.groups.get(key);
    if (known !== undefined) return known;
    const whole = this.#groupOf(at + 1, labels);
    const made = new Figures(labels, this.#columns, whole, () => level.groups.delete(key));
    level.groups.set(key, made);
    return made;
  }
}

const { jobsMax, namespacesMax } = limits.metrics;

/** By namespace and further labels of few values, as long as there are not too many groups. */
export const byNamespace = (...more: readonly string[]): readonly Level[] => [
  { labels: ['namespace', ...more], groupsMax: namespacesMax },
  { labels: more, groupsMax: Number.POSITIVE_INFINITY },
];

/** By namespace and job, as long as there are not too many jobs. Prometheus uses the label `job` itself. */
export const byJob: readonly Level[] = [
  { labels: ['namespace', 'job_id'], groupsMax: jobsMax },
  ...byNamespace(),
];

/** Children of a job count as the job, as a periodic job makes new ones for ever. */
export const jobLabel = (id: string): string => id.replace(/\/(periodic|dispatch)-.*$/s, '');
