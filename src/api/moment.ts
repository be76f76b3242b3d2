/** When the answer of a read may be another, although no row has changed. */
export interface Moment {
  /** Unix milliseconds; absent: not known, or never. */
  atMs?: number;
}
