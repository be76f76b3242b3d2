/**
 * Reads the frames of a peer and trusts nothing in them. Every text and list has its bound, names must be
 * valid names, and a change is no larger than the limit. Unknown members are left out, so that frames can
 * grow. See `exchange.ts`, X2 and X4.
 */
import { limits } from '../limits.ts';
import { scopeNamePattern } from '../namespace/namespace.ts';
import { quote } from '../path.ts';
import {
  type ServiceStatus,
  serviceStatuses,
} from '../service-registration/service-registration.ts';
import { isServiceName } from '../service-registration/validate-report.ts';
import type {
  ExchangeFrame,
  ExportedInstance,
  ExportedService,
  InstanceKey,
  ServiceKey,
} from './exchange.ts';

/** A frame that breaks the protocol: the stream is ended with this reason. */
export class MalformedExchange extends Error {
  override readonly name = 'MalformedExchange';
}

type Fields = Readonly<Record<string, unknown>>;

/** @throws MalformedExchange with the first fault */
export function readExchangeFrame(frame: unknown): ExchangeFrame {
  if (!isObject(frame)) throw new MalformedExchange('a frame is not an object');
  switch (frame.type) {
    case 'begin':
    case 'complete':
      return { type: frame.type };
    case 'acknowledge':
      return { type: 'acknowledge', id: idOf(frame) };
    case 'change':
      return changeOf(frame);
    default:
      throw new MalformedExchange('a frame is none of begin, change, complete, acknowledge');
  }
}

function changeOf(frame: Fields): ExchangeFrame {
  const lists = {
    services: listOf(frame, 'services'),
    instances: listOf(frame, 'instances'),
    removedServices: listOf(frame, 'removedServices'),
    removedInstances: listOf(frame, 'removedInstances'),
  };
  const count = Object.values(lists).reduce((sum, { length }) => sum + length, 0);
  const { instancesPerChangeMax } = limits.peering;
  if (count > instancesPerChangeMax) {
    throw new MalformedExchange(
      `a change has ${count} items; at most ${instancesPerChangeMax} fit`,
    );
  }
  return {
    type: 'change',
    id: idOf(frame),
    services: lists.services.map((one, at) => serviceOf(one, `services[${at}]`)),
    instances: lists.instances.map((one, at) => instanceOf(one, `instances[${at}]`)),
    removedServices: lists.removedServices.map((one, at) => keyOf(one, `removedServices[${at}]`)),
    removedInstances: lists.removedInstances.map((one, at) =>
      instanceKeyOf(one, `removedInstances[${at}]`),
    ),
  };
}

function serviceOf(value: unknown, at: string): ExportedService {
  const fields = objectOf(value, at);
  const { nameLengthMax } = bounds;
  return { ...keyOf(fields, at), protocol: textOf(fields, 'protocol', at, nameLengthMax) };
}

function keyOf(value: unknown, at: string): ServiceKey {
  const fields = objectOf(value, at);
  const { namespace, name } = fields;
  if (typeof namespace !== 'string' || !scopeNamePattern.test(namespace)) {
    throw wrong(at, 'namespace', 'is not the name of a namespace', namespace);
  }
  if (typeof name !== 'string' || !isServiceName(name)) {
    throw wrong(at, 'name', 'is not the name of a service', name);
  }
  return { namespace, name };
}

function instanceKeyOf(value: unknown, at: string): InstanceKey {
  const fields = objectOf(value, at);
  const id = textOf(fields, 'id', at, limits.service.textLengthMax);
  if (id === '' || id.includes('\0')) throw wrong(at, 'id', 'is not the id of an instance', id);
  return { ...keyOf(fields, at), id };
}

function instanceOf(value: unknown, at: string): ExportedInstance {
  const fields = objectOf(value, at);
  const { textLengthMax } = limits.service;
  return {
    ...instanceKeyOf(fields, at),
    address: textOf(fields, 'address', at, textLengthMax),
    port: wholeOf(fields.port, `${at}.port`, 65_535),
    tags: tagsOf(fields, at),
    meta: metaOf(fields, at),
    weights: weightsOf(fields, at),
    datacenter: textOf(fields, 'datacenter', at, bounds.nameLengthMax),
    status: statusOf(fields, at),
  };
}

function tagsOf(fields: Fields, at: string): readonly string[] {
  const tags = listOf(fields, 'tags', at);
  if (tags.length > bounds.tagsMax) throw wrong(at, 'tags', `are more than ${bounds.tagsMax}`);
  return tags.map((tag) => boundedText(tag, `${at}.tags`, limits.service.textLengthMax));
}

function metaOf(fields: Fields, at: string): Readonly<Record<string, string>> {
  const entries = Object.entries(objectOf(fields.meta, `${at}.meta`));
  const { entriesMax, textLengthMax } = limits.service;
  if (entries.length > entriesMax) throw wrong(at, 'meta', `has more than ${entriesMax} entries`);
  return Object.fromEntries(
    entries.map(([name, text]) => [
      boundedText(name, `${at}.meta`, textLengthMax),
      boundedText(text, `${at}.meta`, textLengthMax),
    ]),
  );
}

function weightsOf(fields: Fields, at: string): ExportedInstance['weights'] {
  const weights = objectOf(fields.weights, `${at}.weights`);
  const of = (name: string) =>
    wholeOf(weights[name], `${at}.weights.${name}`, Number.MAX_SAFE_INTEGER);
  return { passing: of('passing'), warning: of('warning') };
}

function statusOf(fields: Fields, at: string): ServiceStatus {
  const status = serviceStatuses.find((one) => one === fields.status);
  if (status !== undefined) return status;
  throw wrong(at, 'status', `is none of ${serviceStatuses.join(', ')}`, fields.status);
}

/** Bounds of an instance that a node may register, and so of the instances of another cluster. */
const bounds = { nameLengthMax: limits.names.lengthMax, tagsMax: 2 * limits.service.entriesMax };

const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function objectOf(value: unknown, at: string): Fields {
  if (isObject(value)) return value;
  throw new MalformedExchange(`${at} is not an object`);
}

function listOf(fields: Fields, name: string, at = 'a change'): readonly unknown[] {
  const list = fields[name];
  if (Array.isArray(list)) return list;
  throw wrong(at, name, 'is not a list');
}

const textOf = (fields: Fields, name: string, at: string, lengthMax: number): string =>
  boundedText(fields[name], `${at}.${name}`, lengthMax);

function boundedText(value: unknown, at: string, lengthMax: number): string {
  if (typeof value !== 'string') throw new MalformedExchange(`${at} is not a text`);
  if (value.length <= lengthMax) return value;
  throw new MalformedExchange(`${at} is longer than ${lengthMax} characters`);
}

function wholeOf(value: unknown, at: string, maximum: number): number {
  const number = value as number;
  if (Number.isInteger(value) && number >= 0 && number <= maximum) return number;
  throw new MalformedExchange(`${at} is not a whole number from 0 to ${maximum}`);
}

function idOf({ id }: Fields): number {
  if (Number.isSafeInteger(id) && (id as number) >= 1) return id as number;
  throw new MalformedExchange('the id of a frame is not a whole number from 1');
}

function wrong(at: string, name: string, rule: string, value?: unknown): MalformedExchange {
  const got = typeof value === 'string' ? `: ${quote(value)}` : '';
  return new MalformedExchange(`${at}.${name} ${rule}${got}`);
}
