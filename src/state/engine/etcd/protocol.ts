/**
 * The messages of etcd that the engine uses, with the numbers of their fields, as etcd publishes them:
 * `api/etcdserverpb/rpc.proto` and `api/mvccpb/kv.proto` of its version 3.6, Apache-2.0.
 */
import protobuf from 'protobufjs/light.js';

type FieldForm = readonly [id: number, type: string, rule?: 'repeated'];

const messages: Readonly<Record<string, Readonly<Record<string, FieldForm>>>> = {
  Empty: {},
  ResponseHeader: { clusterId: [1, 'uint64'], revision: [3, 'int64'] },
  KeyValue: {
    key: [1, 'bytes'],
    createRevision: [2, 'int64'],
    modRevision: [3, 'int64'],
    value: [5, 'bytes'],
    lease: [6, 'int64'],
  },
  Event: { type: [1, 'int32'], kv: [2, 'KeyValue'] },
  RangeRequest: {
    key: [1, 'bytes'],
    rangeEnd: [2, 'bytes'],
    limit: [3, 'int64'],
    revision: [4, 'int64'],
    serializable: [7, 'bool'],
    keysOnly: [8, 'bool'],
  },
  RangeResponse: {
    header: [1, 'ResponseHeader'],
    kvs: [2, 'KeyValue', 'repeated'],
    more: [3, 'bool'],
  },
  PutRequest: { key: [1, 'bytes'], value: [2, 'bytes'], lease: [3, 'int64'] },
  DeleteRangeRequest: { key: [1, 'bytes'], rangeEnd: [2, 'bytes'] },
  RequestOp: {
    requestRange: [1, 'RangeRequest'],
    requestPut: [2, 'PutRequest'],
    requestDeleteRange: [3, 'DeleteRangeRequest'],
  },
  ResponseOp: { responseRange: [1, 'RangeResponse'] },
  Compare: {
    result: [1, 'int32'],
    target: [2, 'int32'],
    key: [3, 'bytes'],
    createRevision: [5, 'int64'],
    value: [7, 'bytes'],
  },
  TxnRequest: {
    compare: [1, 'Compare', 'repeated'],
    success: [2, 'RequestOp', 'repeated'],
    failure: [3, 'RequestOp', 'repeated'],
  },
  TxnResponse: {
    header: [1, 'ResponseHeader'],
    succeeded: [2, 'bool'],
    responses: [3, 'ResponseOp', 'repeated'],
  },
  CompactionRequest: { revision: [1, 'int64'] },
  WatchCreateRequest: { key: [1, 'bytes'], rangeEnd: [2, 'bytes'] },
  WatchRequest: { createRequest: [1, 'WatchCreateRequest'] },
  WatchResponse: {
    header: [1, 'ResponseHeader'],
    created: [3, 'bool'],
    canceled: [4, 'bool'],
    cancelReason: [6, 'string'],
    events: [11, 'Event', 'repeated'],
  },
  LeaseGrantRequest: { ttl: [1, 'int64'] },
  LeaseGrantResponse: { id: [2, 'int64'], error: [4, 'string'] },
  LeaseRequest: { id: [1, 'int64'] },
  LeaseKeepAliveResponse: { id: [2, 'int64'], ttl: [3, 'int64'] },
  AlarmMember: { alarm: [2, 'int32'] },
  AlarmResponse: { alarms: [2, 'AlarmMember', 'repeated'] },
  StatusResponse: {
    version: [2, 'string'],
    dbSize: [3, 'int64'],
    dbSizeInUse: [9, 'int64'],
    dbSizeQuota: [12, 'int64'],
  },
  AuthenticateRequest: { name: [1, 'string'], password: [2, 'string'] },
  AuthenticateResponse: { token: [2, 'string'] },
};

/** A number of 64 bits, which `String` and `Number` read. */
export type Wide = number | string | { toString(): string };

export interface KeyValueForm {
  readonly key: Buffer;
  readonly value: Buffer;
  readonly createRevision: Wide;
  readonly modRevision: Wide;
  readonly lease: Wide;
}

export interface HeaderForm {
  readonly clusterId: Wide;
  readonly revision: Wide;
}

export interface RangeForm {
  readonly header: HeaderForm | null;
  readonly kvs: readonly KeyValueForm[];
  readonly more: boolean;
}

export interface TxnForm {
  readonly header: HeaderForm | null;
  readonly succeeded: boolean;
  readonly responses: readonly { readonly responseRange?: RangeForm | null }[];
}

export interface WatchForm {
  readonly created: boolean;
  readonly canceled: boolean;
  readonly cancelReason: string;
  readonly events: readonly { readonly type: number; readonly kv: KeyValueForm | null }[];
}

export interface StatusForm {
  readonly version: string;
  readonly dbSize: Wide;
  readonly dbSizeInUse: Wide;
  readonly dbSizeQuota: Wide;
}

/** A call of a service: its path, and the forms of request and answer. */
export interface Method<Answer> {
  readonly path: string;
  readonly encode: (request: object) => Buffer;
  readonly decode: (bytes: Buffer) => Answer;
}

const root = protobuf.Root.fromJSON({
  nested: Object.fromEntries(
    Object.entries(messages).map(([name, fields]) => [
      name,
      {
        fields: Object.fromEntries(
          Object.entries(fields).map(([field, [id, type, rule]]) => [
            field,
            rule === undefined ? { id, type } : { id, type, rule },
          ]),
        ),
      },
    ]),
  ),
});

function method<Answer>(path: string, request: string, answer: string): Method<Answer> {
  const [from, to] = [root.lookupType(request), root.lookupType(answer)];
  return {
    path: `/etcdserverpb.${path}`,
    encode(value) {
      const { buffer, byteOffset, byteLength } = from.encode(from.fromObject(value)).finish();
      return Buffer.from(buffer, byteOffset, byteLength);
    },
    decode: (bytes) => to.decode(bytes) as unknown as Answer,
  };
}

export const methods = {
  range: method<RangeForm>('KV/Range', 'RangeRequest', 'RangeResponse'),
  transact: method<TxnForm>('KV/Txn', 'TxnRequest', 'TxnResponse'),
  compact: method<object>('KV/Compact', 'CompactionRequest', 'Empty'),
  watch: method<WatchForm>('Watch/Watch', 'WatchRequest', 'WatchResponse'),
  grantLease: method<{ readonly id: Wide }>(
    'Lease/LeaseGrant',
    'LeaseGrantRequest',
    'LeaseGrantResponse',
  ),
  revokeLease: method<object>('Lease/LeaseRevoke', 'LeaseRequest', 'Empty'),
  keepAlive: method<{ readonly id: Wide; readonly ttl: Wide }>(
    'Lease/LeaseKeepAlive',
    'LeaseRequest',
    'LeaseKeepAliveResponse',
  ),
  status: method<StatusForm>('Maintenance/Status', 'Empty', 'StatusResponse'),
  /** Without an action it lists. */
  alarms: method<{ readonly alarms: readonly { readonly alarm: number }[] }>(
    'Maintenance/Alarm',
    'Empty',
    'AlarmResponse',
  ),
  authenticate: method<{ readonly token: string }>(
    'Auth/Authenticate',
    'AuthenticateRequest',
    'AuthenticateResponse',
  ),
} as const;

// Not in limits: numbers of etcd's own enumerations.
export const compareResults = { equal: 0, greater: 1, less: 2 } as const;
export const compareTargets = { create: 1, value: 3 } as const;
export const eventDelete = 1;
export const alarmNoSpace = 1;
