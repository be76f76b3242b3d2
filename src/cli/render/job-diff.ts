import { formatDuration } from '../../base/duration.ts';
import { formatInstant, instantToMs } from '../../base/instant.ts';
import type {
  DiffType,
  FieldDiff,
  GroupDiff,
  JobDiff,
  ObjectDiff,
  TaskDiff,
} from '../../model/job-diff/job-diff.ts';
import { cliLimits } from '../limits.ts';
import type { Colors, Screen } from './screen.ts';
import { oneLine } from './text.ts';

export interface DiffOptions {
  /** Show unchanged fields, too. */
  readonly isVerbose: boolean;
}

/** The difference of two jobs, with `+`, `-` and `+/-` before changes. */
export async function printJobDiff(
  { colors, line }: Screen,
  diff: JobDiff,
  options: DiffOptions,
): Promise<void> {
  const writer = new DiffWriter(colors, options);
  writer.job(diff);
  for (const text of writer.lines) await line(text);
}

const marks: Readonly<Record<DiffType, string>> = {
  Added: '+',
  Deleted: '-',
  Edited: '+/-',
  None: '',
};
const markWidth = 4;
const step = 2;

class DiffWriter {
  readonly lines: string[] = [];
  readonly #colors: Colors;
  readonly #isVerbose: boolean;

  constructor(colors: Colors, { isVerbose }: DiffOptions) {
    this.#colors = colors;
    this.#isVerbose = isVerbose;
  }

  job({ Type, ID, Fields, Objects, TaskGroups }: JobDiff): void {
    this.#line(0, Type, this.#colors.bold(`Job: "${oneLine(ID)}"`));
    this.#content(0, Fields, Objects);
    for (const group of TaskGroups ?? []) if (this.#isTold(group)) this.#group(group);
  }

  #group({ Type, Name, Fields, Objects, Tasks, Updates }: GroupDiff): void {
    const counts = Object.entries(Updates ?? {}).map(([word, count]) =>
      this.#emphasized(word, `${count} ${oneLine(word)}`),
    );
    const updates = counts.length === 0 ? '' : ` (${counts.join(', ')})`;
    const name = this.#colors.bold(`Task Group: "${oneLine(Name)}"`);
    this.#line(0, Type, `${name}${updates}`);
    this.#content(step, Fields, Objects);
    for (const task of Tasks ?? []) if (this.#isTold(task)) this.#task(task);
  }

  #task({ Type, Name, Fields, Objects, Annotations }: TaskDiff): void {
    this.#line(step, Type, `Task: "${oneLine(Name)}"${this.#annotations(Annotations)}`);
    // A removed task is shown by its name alone.
    if (Type === 'Edited' || Type === 'Added' || this.#isVerbose) {
      this.#content(2 * step, Fields, Objects);
    }
  }

  #content(
    indent: number,
    fields: readonly FieldDiff[] | null,
    objects: readonly ObjectDiff[] | null,
  ): void {
    const told = (fields ?? []).filter((one) => this.#isTold(one));
    const width = Math.max(0, ...told.map(({ Name }) => oneLine(Name).length)) + 1;
    for (const field of told) this.#field(indent, field, width);
    for (const object of objects ?? []) if (this.#isTold(object)) this.#object(indent, object);
  }

  #field(indent: number, { Type, Name, Old, New, Annotations }: FieldDiff, width: number): void {
    const name = `${oneLine(Name)}:`.padEnd(width);
    const value =
      Type === 'Edited'
        ? `${valueText(Name, Old)} => ${valueText(Name, New)}`
        : valueText(Name, Type === 'Deleted' ? Old : New);
    this.#line(indent, Type, `${name} ${value}${this.#annotations(Annotations)}`);
  }

  #object(indent: number, { Type, Name, Fields, Objects }: ObjectDiff): void {
    this.#line(indent, Type, `${oneLine(Name)} {`);
    this.#content(indent + step, Fields, Objects);
    this.lines.push(`${' '.repeat(indent + markWidth)}}`);
  }

  #isTold({ Type, ...rest }: { readonly Type: DiffType }): boolean {
    if (this.#isVerbose || Type !== 'None') return true;
    const { Annotations, Updates, Tasks } = rest as Partial<TaskDiff & GroupDiff>;
    const doesMore = Object.keys(Updates ?? {}).some((word) => word !== 'ignore');
    return (
      doesMore || (Annotations ?? []).length > 0 || (Tasks ?? []).some((one) => this.#isTold(one))
    );
  }

  #line(indent: number, type: DiffType, text: string): void {
    const mark = marks[type].padEnd(markWidth);
    this.lines.push(`${' '.repeat(indent)}${this.#colorOf(type)(mark)}${text}`.trimEnd());
  }

  #colorOf(type: DiffType): (text: string) => string {
    const { green, red, yellow } = this.#colors;
    return { Added: green, Deleted: red, Edited: yellow, None: String }[type];
  }

  #annotations(annotations: readonly string[] | null): string {
    if (annotations === null || annotations.length === 0) return '';
    return ` (${annotations.map((text) => this.#emphasized(text, oneLine(text))).join(', ')})`;
  }

  /** Emphasizes annotations that create or destroy allocations. */
  #emphasized(word: string, text: string): string {
    const { green, red, yellow, cyan } = this.#colors;
    if (word.includes('create/destroy')) return yellow(text);
    if (word.includes('create') || word === 'canary') return green(text);
    if (word.includes('destroy')) return red(text);
    return word.includes('in-place') ? cyan(text) : text;
  }
}

/** The fields of a job that hold nanoseconds. */
const durations = new Set([
  'Delay',
  'Grace',
  'HealthTimeout',
  'HealthyDeadline',
  'Interval',
  'KillTimeout',
  'LostAfter',
  'Max',
  'MaxDelay',
  'Min',
  'MinHealthyTime',
  'ProgressDeadline',
  'ShutdownDelay',
  'Splay',
  'Stagger',
  'StopOnClientAfter',
  'TTL',
  'Timeout',
]);

/** Numbers below a tenth of a second are bounds of a scaling policy, which have the same name. */
const isSpan = (name: string, value: string): boolean =>
  durations.has(name) && /^\d{9,16}$/.test(value);

/** The fields of a job that hold an instant, in nanoseconds. */
const instants = new Set(['TaggedTime', 'SubmitTime']);

function valueText(name: string, value: string): string {
  if (instants.has(name) && /^[1-9]\d{15,18}$/.test(value)) {
    return JSON.stringify(formatInstant(instantToMs(Number(value))));
  }
  if (isSpan(name, value)) return JSON.stringify(formatDuration(Number(value)));
  const text =
    value.length > cliLimits.job.valueLengthMax
      ? `${value.slice(0, cliLimits.job.valueLengthMax)}…`
      : value;
  return JSON.stringify(text);
}
