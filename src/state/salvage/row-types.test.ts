import { expect, test } from 'vitest';
import { SimulatedWorld } from '../../base/ports-simulated.ts';
import { complete } from '../../model/complete.ts';
import { EvaluationSchema } from '../../model/evaluation/evaluation.ts';
import { JobSchema } from '../../model/job/job.ts';
import { NodeSchema } from '../../model/node/node.ts';
import { memoryState } from '../state.test-helper.ts';
import { allTables, evaluations, jobs, namespaces, nodes } from '../tables.ts';
import { emptyTables, View } from '../view.ts';
import { typeFaults } from './row-types.ts';

/** The faults of a view with these rows. */
function faultsOf(rows: readonly (readonly [{ readonly name: string }, object])[]) {
  const tables = emptyTables(allTables);
  for (const table of tables.values()) table.beginLoading();
  rows.forEach(([{ name }, row], at) => {
    tables.get(name)!.noteLoaded(String(at), { CreateIndex: 1, ModifyIndex: 1, ...row } as never);
  });
  for (const table of tables.values()) table.endLoading();
  return typeFaults(new View(1, tables)).map(({ at, fault }) => `${at}: ${fault}`);
}

test('each field of a wrong type is named with its table and its key, and no value is', () => {
  const Namespace = 'default';
  const TaskGroups = [{ Name: 'a' }, { Name: 'b', Count: 'secret' }];
  const faults = faultsOf([
    [namespaces, { Partition: 'default', Name: 'dev', Description: 'sound', Meta: { a: 'b' } }],
    [namespaces, { Partition: 'default', Name: 'ops', Description: 7 }],
    [evaluations, { ...complete(EvaluationSchema, { Namespace, ID: 'e1' }), Priority: 'high' }],
    [jobs, { ...complete(JobSchema, { Namespace, ID: 'web' }), TaskGroups }],
    [jobs, { ...complete(JobSchema, { Namespace, ID: 'db' }), Unknown: 1 }],
    [nodes, { ...complete(NodeSchema, { ID: 'n1' }), Meta: { rack: 1 } }],
  ]);
  expect(faults).toEqual([
    'the row default/default/web of the table jobs, field TaskGroups/1/Count: it is no integer; a repair keeps the row as it is',
    'the row default/default/e1 of the table evaluations, field Priority: it is no integer; a repair keeps the row as it is',
    'the row n1 of the table nodes, field Meta/rack: it is no text; a repair keeps the row as it is',
    'the row default/ops of the table namespaces, field Description: it is no text; a repair keeps the row as it is',
  ]);
});

test('an empty state has no fault', async () => {
  const state = await memoryState(allTables, new SimulatedWorld(1));
  expect(state.read().index).toBe(0);
  expect(faultsOf([])).toEqual([]);
});
