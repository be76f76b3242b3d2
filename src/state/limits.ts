import { limits } from '../model/limits.ts';

/** The bounds of the state, as tests may change them. */
export type StateLimits = { readonly [Name in keyof typeof limits.state]: number };

export const stateLimits: StateLimits = limits.state;
