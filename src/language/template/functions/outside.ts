import { createHash } from 'node:crypto';
import { FunctionFault } from '../../functions/fault.ts';
import { type Dependency, describeDependency, type RunContext } from '../run-context.ts';
import { isList, isMap, type TemplateMap, type TemplateValue } from '../value.ts';
import { any, define, type Functions, optional, rest, text } from './define.ts';

/** Functions that read from outside: environment variables of the task, files, services, variables. */
const service = define([any('name'), rest(any('more'))], (values, context) => {
  const [first, more] = values;
  if (more.length === 0) return registrations(serviceOf(first, 0), context);
  const [key, name] = more;
  if (more.length !== 2 || typeof first !== 'bigint' || typeof key !== 'string') {
    throw new FunctionFault('it takes a name, or a count, a key and a name');
  }
  if (first < 1n) throw new FunctionFault('the count has to be 1 or more', 0);
  return chosen(registrations(serviceOf(name ?? null, 2), context), Number(first), key, context);
});

const services = define([], (_, context) => listOf({ kind: 'services', name: '' }, context));

const variable = define([text('path')], ([path], context) => {
  const dependency = { kind: 'variable', name: pathOf(path) } as const;
  const found = context.read(dependency);
  if (found === null) context.miss(dependency);
  return found ?? noItems;
});

const variableExists = define([text('path')], ([path], context) => {
  const found = context.read({ kind: 'variable', name: pathOf(path) });
  return found !== undefined && found !== null;
});

const variableList = define([optional(text('prefix'))], ([prefix = ''], context) =>
  listOf({ kind: 'variables', name: prefix }, context),
);

export const outsideFunctions: Functions = {
  env: define([text('name')], ([name], { environment }) => variableOf(environment, name) ?? ''),
  envOrDefault: define(
    [text('name'), text('default')],
    ([name, fallback], { environment }) => variableOf(environment, name) || fallback,
  ),
  mustEnv: define([text('name')], ([name], { environment }) => {
    const value = variableOf(environment, name);
    if (value !== undefined) return value;
    throw new FunctionFault(`the task has no variable "${name.slice(0, 128)}"`, 0);
  }),
  file: define([text('path')], ([path], context) => {
    const dependency = { kind: 'file', name: path } as const;
    const found = context.read(dependency);
    if (found === null) context.miss(dependency);
    return found ?? '';
  }),
  service,
  services,
  var: variable,
  varExists: variableExists,
  varList: variableList,
  // The same functions with the name of the product, as in job files of other products.
  rosterService: service,
  rosterServices: services,
  rosterVar: variable,
  rosterVarExists: variableExists,
  rosterVarList: variableList,
};

const noItems: TemplateMap = new Map();

const variableOf = ({ variables }: RunContext['environment'], name: string): string | undefined =>
  Object.hasOwn(variables, name) ? variables[name] : undefined;

function nameOf(value: TemplateValue, argument: number): string {
  if (typeof value === 'string' && value !== '') return value;
  throw new FunctionFault('the name has to be text, and not empty', argument);
}

/** Reads `name`, `name@namespace`, and `?peer=` for the service of a peer. */
function serviceOf(value: TemplateValue, argument: number): string {
  const name = nameOf(value, argument);
  const question = name.indexOf('?');
  if (question === -1 || /^\?peer=[a-z0-9-]+$/i.test(name.slice(question))) return name;
  throw new FunctionFault('after "?" it takes peer=NAME', argument);
}

function pathOf(path: string): string {
  const name = path.replace(/^\/+/, '');
  if (name !== '') return name;
  throw new FunctionFault('the path is empty', 0);
}

const registrations = (name: string, context: RunContext): readonly TemplateValue[] =>
  listOf({ kind: 'service', name }, context);

function listOf(dependency: Dependency, context: RunContext): readonly TemplateValue[] {
  const found = context.read(dependency);
  if (found === undefined) return [];
  if (isList(found)) return found;
  throw new Error(`${describeDependency(dependency)} is no list`);
}

/** Chooses `count` items by the key, so that few choices change when items come or go. */
function chosen(
  all: readonly TemplateValue[],
  count: number,
  key: string,
  { budget }: RunContext,
): readonly TemplateValue[] {
  budget.work(all.length * 4);
  const ranked = all.map((item) => {
    const id = isMap(item) ? String(item.get('ID') ?? '') : '';
    return { item, rank: createHash('sha256').update(`${key}\0${id}`).digest('hex') };
  });
  ranked.sort((left, right) => (left.rank < right.rank ? -1 : 1));
  return ranked.slice(0, count).map(({ item }) => item);
}
