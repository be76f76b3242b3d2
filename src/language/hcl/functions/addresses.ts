import { FunctionFault } from '../../functions/fault.ts';
import type { Budget } from '../budget.ts';
import { define, type Functions, text, variadic, whole } from './define.ts';
import { type Address, addressText, parseAddress } from './ip.ts';

export const addressFunctions: Functions = {
  cidrhost: define([text('prefix'), whole('hostnum')], ([prefix, number], budget) => {
    const { address, length } = parsePrefix(prefix, budget);
    const hosts = 1n << BigInt(address.bits - length);
    // Negative numbers count from the end.
    const host = BigInt(number) < 0n ? hosts + BigInt(number) : BigInt(number);
    if (host < 0n || host >= hosts) {
      throw new FunctionFault(`a prefix of /${length} has no host ${number}`, 1);
    }
    return addressText({ ...address, value: address.value + host });
  }),
  cidrnetmask: define([text('prefix')], ([prefix], budget) => {
    const { address, length } = parsePrefix(prefix, budget);
    if (address.bits !== 32) throw new FunctionFault('only IPv4 has netmasks', 0);
    return addressText({ bits: 32, value: (1n << 32n) - (1n << BigInt(32 - length)) });
  }),
  cidrsubnet: define(
    [text('prefix'), whole('newbits'), whole('netnum')],
    ([prefix, newBits, number], budget) => {
      const { address, length } = parsePrefix(prefix, budget);
      const longer = lengthen(length, newBits, address.bits, 1);
      if (number < 0 || BigInt(number) >= 1n << BigInt(newBits)) {
        throw new FunctionFault(`${newBits} more bits have no network ${number}`, 2);
      }
      const step = 1n << BigInt(address.bits - longer);
      const value = address.value + BigInt(number) * step;
      return `${addressText({ ...address, value })}/${longer}`;
    },
  ),
  cidrsubnets: variadic([text('prefix')], whole('newbits'), ([prefix], all, budget) => {
    const { address, length } = parsePrefix(prefix, budget);
    budget.work(10 * all.length);
    const end = address.value + (1n << BigInt(address.bits - length));
    let next = address.value;
    const networks = all.map((newBits, index) => {
      const longer = lengthen(length, newBits, address.bits, index + 1);
      const size = 1n << BigInt(address.bits - longer);
      // A network begins at a multiple of its size.
      const start = ((next + size - 1n) / size) * size;
      next = start + size;
      if (next > end) {
        throw new FunctionFault(`there is no room for network ${index + 1}`, index + 1);
      }
      return `${addressText({ ...address, value: start })}/${longer}`;
    });
    return budget.made(networks);
  }),
};

interface Prefix {
  /** The first address. */
  readonly address: Address;
  readonly length: number;
}

function parsePrefix(written: string, budget: Budget): Prefix {
  // Addresses are calculated with as whole numbers of 128 bits.
  budget.work(10);
  const [host = '', bits = '', ...more] = written.split('/');
  const address = parseAddress(host);
  const length = /^(?:0|[1-9][0-9]{0,2})$/.test(bits) ? Number(bits) : Number.NaN;
  if (address === undefined || !(length <= address.bits) || more.length > 0) {
    const quoted = JSON.stringify(written.slice(0, 60).toWellFormed());
    throw new FunctionFault(`${quoted} is no prefix, such as "10.0.0.0/8"`, 0);
  }
  const hostBits = BigInt(address.bits - length);
  return { address: { ...address, value: (address.value >> hostBits) << hostBits }, length };
}

function lengthen(length: number, newBits: number, bits: number, argument: number): number {
  if (newBits < 1) {
    throw new FunctionFault('a prefix is lengthened by at least one bit', argument);
  }
  if (length + newBits <= bits) return length + newBits;
  throw new FunctionFault(`/${length} has room for ${bits - length} more bits`, argument);
}
