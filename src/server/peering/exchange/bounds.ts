/** Bounds of an exchange: those of `limits.peering`, unless a test makes them smaller. */
export interface ExchangeBounds {
  readonly window: number;
  readonly instancesPerChangeMax: number;
  readonly changeBytesMax: number;
  readonly instanceBytesMax: number;
  readonly changedInstancesMax: number;
  readonly framesWaitingMax: number;
  readonly importedServicesMax: number;
  readonly importedInstancesMax: number;
  readonly importedBytesMax: number;
  readonly rowsPerTransactionMax: number;
}
