/** The faults of what is typed, as the server tells them, each with its place in the text. */
import { jobBlock } from '../../../../src/language/jobspec/forms/job.ts';
import type { WrittenJob } from '../../../../src/model/job/job.ts';
import { live } from '../../app/connection.svelte.ts';
import { problemOf, type ShownProblem } from '../../app/problems.ts';
import { jsonPlaceOf, jsonSyntaxFault } from './json-places.ts';
import { outlineOf, placeOf } from './outline.ts';

export type Format = 'hcl' | 'json';

/** A job in JSON is an object; a job file never begins with a brace. */
export const formatOf = (text: string): Format => (/^\s*\{/.test(text) ? 'json' : 'hcl');

export interface Fault {
  readonly message: string;
  /** Offsets in the text; absent: the fault has no place there. */
  readonly from: number | undefined;
  readonly to: number | undefined;
}

export interface Checked {
  /** As the API takes it; `undefined` if the text is no job. */
  readonly job: WrittenJob | undefined;
  readonly faults: readonly Fault[];
  readonly warnings: readonly string[];
  /** The server could not be asked, or refused to check. */
  readonly problem: ShownProblem | undefined;
}

export interface Written {
  readonly text: string;
  /** Values of variables, in the form of a file of variables. */
  readonly variables: string;
  /** Of a job that names none. */
  readonly namespace: string;
}

export async function check(written: Written): Promise<Checked> {
  const none = { job: undefined, faults: [], warnings: [], problem: undefined };
  if (written.text.trim() === '') return none;
  try {
    const { text } = written;
    const read = formatOf(text) === 'hcl' ? await parsed(written) : await parsedJson(written);
    if ('faults' in read) return { ...none, faults: read.faults };
    const { job } = read;
    const { value } = await live().client.jobs.validate(job, {
      namespace: namespaceOf(job, written),
    });
    return {
      job,
      faults: (value.ValidationErrors ?? []).map((message) => placed(message, text)),
      warnings: warningsIn(value.Warnings ?? ''),
      problem: undefined,
    };
  } catch (error) {
    return { ...none, problem: problemOf(error) };
  }
}

export const namespaceOf = (job: WrittenJob, { namespace }: Pick<Written, 'namespace'>): string =>
  job.Namespace || namespace;

type Read = { readonly job: WrittenJob } | { readonly faults: readonly Fault[] };

async function parsed({ text, variables, namespace }: Written): Promise<Read> {
  try {
    const { value } = await live().client.jobs.parse(
      { JobHCL: text, Variables: variables },
      { namespace },
    );
    return { job: value as WrittenJob };
  } catch (error) {
    const problem = problemOf(error);
    const isAboutText = problem.code === 'invalid-job-file' || problem.code === 'invalid-job';
    if (!isAboutText || problem.errors === undefined) throw error;
    return {
      faults: problem.errors.map(({ message, line, column, pointer }) => {
        if (line === undefined || pointer !== '/JobHCL') return placed(message, text);
        const from = offsetOf(text, line, column ?? 1);
        return {
          message: message.replace(/^JobHCL, line \d+, column \d+: /, ''),
          ...wordAt(text, from),
        };
      }),
    };
  }
}

async function parsedJson(written: Written): Promise<Read> {
  let value: object;
  try {
    value = JSON.parse(written.text) as object;
  } catch {
    return { faults: [jsonSyntaxFault(written.text)] };
  }
  // A job file can be written in JSON, too.
  if ('job' in value) return parsed(written);
  return { job: ('Job' in value ? value.Job : value) as WrittenJob };
}

function offsetOf(text: string, line: number, column: number): number {
  let at = 0;
  for (let left = line; left > 1; left -= 1) {
    const end = text.indexOf('\n', at);
    if (end === -1) return text.length;
    at = end + 1;
  }
  // Columns count characters, of which those outside of the basic plane have two units.
  let units = 0;
  for (const char of text.slice(at)) {
    if (units >= column - 1 || char === '\n') break;
    units += 1;
    at += char.length;
  }
  return Math.min(at, text.length);
}

function wordAt(text: string, from: number): { readonly from: number; readonly to: number } {
  const [found = ''] = /^(?:"[^"\n]*"?|[\p{L}\p{N}_-]+|[^\s])/u.exec(text.slice(from)) ?? [];
  return { from, to: from + found.length };
}

/** Sentences of the server begin with the path of the field: `TaskGroups[0].Count must …`. */
function placed(message: string, text: string): Fault {
  const pointer = pointerOf(message);
  const none = { message, from: undefined, to: undefined };
  if (pointer === undefined) return none;
  if (formatOf(text) === 'json') return { message, ...(jsonPlaceOf(text, pointer) ?? none) };
  const place = placeOf(outlineOf(text), jobBlock.body, pointer);
  if (place === undefined) return none;
  return { message, from: place.from, to: 'type' in place ? place.headTo : place.to };
}

const dotted = /^[A-Za-z]\w*(?:\.[\w-]+|\[\d+\]|\["(?:[^"\\]|\\.)*"\])*(?=[ :])/;
const step = /\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]|([\w-]+)/g;

function pointerOf(message: string): string | undefined {
  const path = dotted.exec(message.replace(/^Job\./, ''))?.[0];
  if (path === undefined || !/^[A-Z]/.test(path)) return undefined;
  return [...path.matchAll(step)]
    .map(([, index, key, name]) => {
      const part = key === undefined ? (index ?? name ?? '') : (JSON.parse(key) as string);
      return `/${part.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    })
    .join('');
}

/** The list in a text of warnings: a count, then lines that begin with a star. */
export const warningsIn = (text: string): readonly string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !/^\d+ warning\(s\):$/.test(line))
    .map((line) => line.replace(/^\* /, ''));
