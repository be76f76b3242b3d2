/** Conditions of a machine that tests of the node need. */
import type { Need } from '../base/not-run.test-helper.ts';
import { findMemoryMounts } from './memory-mounts/mounts.ts';
import { type Controller, hasController, readCgroupLayout } from './supervisor/cgroups/layout.ts';

const layout = readCgroupLayout();

export const controller = (name: Controller): Need => ({
  isMet: hasController(layout, name),
  otherwise: `they need the controller ${name} of control groups, and a user who may use it`,
});

export const freezerOfVersion1: Need = {
  isMet: layout.separate.has('freezer'),
  otherwise: 'they need the freezer of version 1 of control groups, and a user who may use it',
};

export const version2: Need = {
  isMet: layout.unified !== undefined,
  otherwise: 'they need control groups of version 2, and a user who may use them',
};

/** Whether this user may mount on this machine. */
export async function mounting(): Promise<Need> {
  const { mounts } = await findMemoryMounts('/tmp');
  await mounts?.close();
  return { isMet: mounts !== undefined, otherwise: 'they mount, and this user may not' };
}
