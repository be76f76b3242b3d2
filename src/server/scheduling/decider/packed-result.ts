/**
 * A result on its way between two threads. The rows of a plan are alike: a copy of each whole row would take longer than
 * its decision did. The rows come in parts, and each part is read in a step of its own.
 */
import { deserialize, serialize } from 'node:v8';
import type { Steps } from '../../../base/steps.ts';
import type { Plan } from '../../../model/plan/plan.ts';
import type { SchedulerResult } from '../../../scheduler/view.ts';
import type { Bytes } from '../../../state/codec.ts';

const lists = ['placements', 'inPlaceUpdates', 'stops', 'preemptions'] as const;
type List = (typeof lists)[number];

/** A message between two threads. */
export interface PackedResult {
  /** The result without the rows. */
  readonly rest: Omit<SchedulerResult, 'plan'> & { readonly plan: Omit<Plan, List> };
  /** Each the serialized `Part` of a list, in order. */
  readonly parts: readonly Bytes[];
}

type Row = Readonly<Record<string, unknown>>;

interface Part {
  readonly list: List;
  readonly count: number;
  /** A row whose fields these rows have, but for those in `columns`; absent: the `first` of the part before. */
  readonly first?: Row;
  readonly columns: readonly (readonly [field: string, values: readonly unknown[]])[];
}

/** @param rowsMax of a part */
export function packed({ plan, ...result }: SchedulerResult, rowsMax: number): PackedResult {
  const { placements, inPlaceUpdates, stops, preemptions, ...rest } = plan;
  const parts: Bytes[] = [];
  for (const list of lists) {
    for (const part of partsOf(list, plan[list] as readonly unknown[] as readonly Row[], rowsMax)) {
      // The bytes are alone in their buffer, so that it may be transferred.
      parts.push(new Uint8Array(serialize(part)));
    }
  }
  return { rest: { ...result, plan: rest }, parts };
}

function* partsOf(list: List, rows: readonly Row[], rowsMax: number): Generator<Part> {
  let first: Row = {};
  let fields: readonly string[] = [];
  let from = 0;
  while (from < rows.length) {
    const isNew = from === 0 || !hasFields(rows[from]!, fields);
    if (isNew) {
      first = rows[from]!;
      fields = Object.keys(first);
    }
    let to = from + 1;
    while (to < rows.length && to - from < rowsMax && hasFields(rows[to]!, fields)) to++;
    const part = rows.slice(from, to);
    const differing = fields.filter((field) => part.some((row) => row[field] !== first[field]));
    const columns = differing.map((field) => [field, part.map((row) => row[field])] as const);
    yield { list, count: part.length, columns, ...(isNew && { first }) };
    from = to;
  }
}

function hasFields(row: Row, fields: readonly string[]): boolean {
  const own = Object.keys(row);
  return own.length === fields.length && own.every((field, at) => field === fields[at]);
}

/** Puts a result together again. */
export function* unpacked({ rest, parts }: PackedResult): Steps<SchedulerResult> {
  const rows: Record<List, Row[]> = {
    placements: [],
    inPlaceUpdates: [],
    stops: [],
    preemptions: [],
  };
  let first: Row = {};
  for (const bytes of parts) {
    const part = deserialize(bytes) as Part;
    first = part.first ?? first;
    for (let at = 0; at < part.count; at++) {
      const row: Record<string, unknown> = { ...first };
      for (const [field, values] of part.columns) row[field] = values[at];
      rows[part.list].push(row);
    }
    yield;
  }
  const { plan, ...result } = rest;
  return { ...result, plan: { ...plan, ...(rows as unknown as Pick<Plan, List>) } };
}
