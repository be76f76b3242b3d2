import { expect, test } from 'vitest';
import { SimulatedWorld } from '../../base/ports-simulated.ts';
import { complete } from '../../model/complete.ts';
import { configKinds } from '../../model/config-entry/config-entry.ts';
import { EvaluationSchema } from '../../model/evaluation/evaluation.ts';
import { JobSchema } from '../../model/job/job.ts';
import { NamespaceSchema } from '../../model/namespace/namespace.ts';
import { NodeSchema } from '../../model/node/node.ts';
import { memoryState } from '../state.test-helper.ts';
import { loadingsOf } from '../table-loading.ts';
import { allTables, evaluations, jobs, namespaces, nodes } from '../tables.ts';
import type { Stamps } from '../types.ts';
import { emptyTables, View } from '../view.ts';
import { faultIn, fieldFaults } from './field-faults.ts';
import { rowFault } from './row-fault.ts';
import { storedForms } from './stored-forms.ts';

/** The faults of a view with these rows. */
function faultsOf(rows: readonly (readonly [{ readonly name: string }, object])[]) {
  const tables = emptyTables(allTables);
  const loadings = loadingsOf(tables);
  rows.forEach(([{ name }, row], at) => {
    loadings.get(name)!.put([String(at)], { ...row, CreateIndex: 1, ModifyIndex: 1 } as never);
  });
  for (const loading of loadings.values()) loading.end();
  return fieldFaults(new View(1, tables)).map(({ at, fault }) => `${at}: ${fault}`);
}

test('each faulty field is named with its table and its key, and no value is', () => {
  const Namespace = 'default';
  const job = (ID: string) => complete(JobSchema, { Namespace, ID, TaskGroups: [{ Name: 'a' }] });
  const [group] = job('web').TaskGroups;
  const namespace = (Name: string) => complete(NamespaceSchema, { Partition: 'default', Name });
  const { Priority: _, ...withoutPriority } = complete(EvaluationSchema, { Namespace, ID: 'e1' });
  const faults = faultsOf([
    [namespaces, { ...namespace('dev'), Meta: { a: 'b' } }],
    [namespaces, { ...namespace('ops'), Description: 7 }],
    [namespaces, { ...namespace('qa'), Description: 'secret'.repeat(1000) }],
    [evaluations, withoutPriority],
    [evaluations, { ...complete(EvaluationSchema, { Namespace, ID: 'e2' }), Status: 'secret' }],
    [jobs, { ...job('web'), TaskGroups: [group, { ...group, Count: 'secret' }] }],
    [jobs, { ...job('db'), Unknown: 1 }],
    [nodes, { ...complete(NodeSchema, { ID: 'n1' }), Meta: { rack: 1 } }],
  ]);
  const kept = '; a repair keeps the row as it is';
  expect(faults).toEqual([
    `the row default/default/web of the table jobs, field TaskGroups/1/Count: it is no integer${kept}`,
    `the row default/default/e1 of the table evaluations, field Priority: it is missing${kept}`,
    `the row default/default/e2 of the table evaluations, field Status: it is none of pending, blocked, complete, failed, canceled${kept}`,
    `the row n1 of the table nodes, field Meta/rack: it is no text${kept}`,
    `the row default/ops of the table namespaces, field Description: it is no text${kept}`,
    `the row default/qa of the table namespaces, field Description: it is longer than 1000 characters${kept}`,
  ]);
});

test('an empty state has no fault', async () => {
  const state = await memoryState(allTables, new SimulatedWorld(1));
  expect(state.read().index).toBe(0);
  expect(faultsOf([])).toEqual([]);
});

interface Shape {
  readonly type?: string;
  readonly default?: unknown;
  readonly enum?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
  readonly anyOf?: readonly Shape[];
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly required?: readonly string[];
  readonly items?: Shape;
  readonly patternProperties?: Readonly<Record<string, Shape>>;
}

/** A value with something in each of its lists and records. */
function sampleOf(shape: Shape): unknown {
  if (shape.anyOf !== undefined) return sampleOf(shape.anyOf[0]!);
  if (shape.enum !== undefined) return shape.enum.find((choice) => choice !== '');
  switch (shape.type) {
    case 'string':
      return 'x';
    case 'boolean':
      return true;
    case 'integer':
    case 'number':
      return Math.min(Math.max(1, shape.minimum ?? 1), shape.maximum ?? 1000);
    case 'array':
      return [sampleOf(shape.items!)];
    case 'object': {
      const value = Object.values(shape.patternProperties ?? {})[0];
      if (value !== undefined) return { a: sampleOf(value) };
      return Object.fromEntries(
        Object.entries(shape.properties ?? {}).map(([name, one]) => [name, sampleOf(one)]),
      );
    }
    default:
      return null;
  }
}

const withoutNull = (shape: Shape): Shape =>
  shape.anyOf?.find(({ type }) => type !== 'null') ?? shape;

/** Each way to damage a field of a row, by the fault that is told of it. */
function* damagesOf(row: object, form: Shape) {
  for (const [field, outer] of Object.entries(form.properties ?? {})) {
    const shape = withoutNull(outer);
    if (form.required?.includes(field)) {
      const { [field as keyof object]: _, ...rest } = row;
      yield { field, damaged: rest, fault: 'it is missing' };
    }
    const set = (value: unknown, fault: RegExp) => ({
      field,
      damaged: { ...row, [field]: value },
      fault: expect.stringMatching(fault),
    });
    if (shape.type !== undefined) {
      yield set(shape.type === 'object' ? 'secret' : { secret: 1 }, /^it is no \w+$/);
    }
    if (shape.enum !== undefined) yield set('secret', /^it is none of /);
    if (shape.maxLength !== undefined) {
      yield set('s'.repeat(shape.maxLength + 1), /^it is longer than \d+ characters$/);
    }
    if (shape.minimum !== undefined) yield set(shape.minimum - 1, /^it is less than -?\d+$/);
    if (shape.maximum !== undefined) yield set(shape.maximum + 1, /^it is greater than \d+$/);
  }
}

test('every table has the form of its rows', () => {
  expect([...storedForms.keys()].sort()).toEqual(allTables.map(({ name }) => name).sort());
});

/** Fields of rows that a sample cannot guess. */
const known: Readonly<Record<string, object>> = {
  'scaling-policies': { Target: { Namespace: 'default', Job: 'web', Group: 'web' } },
};

const kept = allTables
  .filter(({ name }) => name !== 'packed-batches')
  .flatMap(({ name }) =>
    name === 'config-entries'
      ? configKinds.map((Kind) => ({ name, title: `${name} of ${Kind}`, fields: { Kind } }))
      : [{ name, title: name, fields: known[name] ?? {} }],
  );

test.each(kept)('every damage to a field of a row of $title is named', ({ name, fields }) => {
  const form = storedForms.get(name)!(fields) as Shape;
  const table = emptyTables(allTables).get(name)!;
  const whole = { ...(sampleOf(form) as object), ...fields };
  expect(faultIn(name, whole)).toBeUndefined();
  expect(rowFault(table, whole, 1)).toBeUndefined();
  const damages = [...damagesOf(whole, form)];
  expect(damages.length).toBeGreaterThan(2);
  let named = 0;
  for (const { field, damaged, fault } of damages) {
    // A row without its keys is lost, which `row-fault.ts` tells.
    const isLost = rowFault(table, damaged as Stamps, 1) !== undefined;
    if (isLost) continue;
    const found = faultIn(name, damaged);
    const isUnknownKind = name === 'config-entries' && field === 'Kind';
    expect([field, found]).toEqual([
      field,
      isUnknownKind ? expect.anything() : { field: expect.stringContaining(field), fault },
    ]);
    expect(JSON.stringify(found)).not.toContain('secret');
    named++;
  }
  expect(named).toBeGreaterThan(0);
});
