/**
 * The meaning of `${…}`, as far as the job decides it. The node fills references in (`node/environment/`).
 * The submitter of a job is warned of references that no node can fill in.
 */
import { suggestion } from '../../language/hcl/suggest.ts';
import { foreignVariable, ourReference } from '../../language/words/field-words.ts';
import { attributeNames, mayBeAttribute, nodeReferences } from '../node/attribute-names.ts';
import { passedVariables } from './task-variables.ts';

/** `${name}`, and `${env["name"]}` for a variable by any name. */
export const reference = /\$\{(?:env\["([^"\]]+)"\]|([A-Za-z0-9_.-]+))\}/g;

/** Whether a text may have a reference. Hardly any has one. */
export const mayRefer = (text: string): boolean => text.includes('${') || text.includes('NOMAD_');

/** The place of the text with the reference. */
export interface ReferencePlace {
  /**
   * `task`: filled in for the running task. `rule`: compared with nodes. `device`: compared with devices.
   * `plain`: nothing is filled in.
   */
  readonly kind: 'task' | 'rule' | 'device' | 'plain';
  /** The known variables. */
  readonly variables: ReadonlySet<string>;
  /** There may be more variables, which are known once the task runs. */
  readonly hasMore: boolean;
}

export const plainPlace: ReferencePlace = { kind: 'plain', variables: new Set(), hasMore: false };
export const rulePlace: ReferencePlace = { ...plainPlace, kind: 'rule' };
export const devicePlace: ReferencePlace = { ...plainPlace, kind: 'device' };

/** Faults of the references of a text, each as the end of a sentence. */
export function* referenceFaults(
  text: string,
  place: ReferencePlace,
): Generator<string, void, void> {
  if (!mayRefer(text)) return;
  const told = new Set<string>();
  for (const [whole, variable, plain] of text.matchAll(reference)) {
    const name = variable ?? plain!;
    if (told.has(name) || isFilledIn(name, place)) continue;
    if (variable === undefined && isMeantOtherwise(name, text, place)) continue;
    told.add(name);
    const why =
      place.kind === 'plain' ? 'and nothing is filled in there' : 'which no node fills in';
    yield `refers to ${whole}, ${why}${hintFor(name, place)}`;
  }
  for (const [name] of text.matchAll(foreignVariable)) {
    if (told.has(name) || place.variables.has(name)) continue;
    told.add(name);
    yield `names ${name}, a variable that no task has${hintFor(name, place)}`;
  }
}

function isFilledIn(name: string, { kind, variables }: ReferencePlace): boolean {
  if (kind === 'plain') return false;
  if (kind === 'device' && name.startsWith('device.')) return true;
  if (name.startsWith('attr.')) {
    return ourReference(name) === undefined && mayBeAttribute(name.slice('attr.'.length));
  }
  if (name.startsWith('meta.') || nodeReferences.includes(name)) return true;
  if (kind !== 'task') return false;
  const isPassed = passedVariables.includes(name) || name.startsWith('LC_');
  return name === 'node.region' || isPassed || variables.has(name);
}

/** Names that can only mean the node or Roster. */
const ours = /^(attr|node|meta|device|secret)\.|^ROSTER_|^NOMAD_/;

/** A script has its own variables; and text in which nothing is filled in is rarely meant for Roster. */
function isMeantOtherwise(name: string, text: string, { kind, hasMore }: ReferencePlace): boolean {
  if (ours.test(name)) return false;
  return kind === 'plain' || hasMore || /\s/.test(text);
}

function hintFor(name: string, { kind, variables }: ReferencePlace): string {
  const own = ourReference(name);
  if (own !== undefined) return `; here it is ${own}`;
  if (name.startsWith('secret.')) return '; nothing fetches secrets: keep them in variables';
  if (kind === 'plain') return '';
  const known = [...nodeReferences, ...attributeNames.map((attribute) => `attr.${attribute}`)];
  return suggestion(name, kind === 'task' ? [...variables, ...known] : known);
}
