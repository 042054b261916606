/** The result of a create: `data` stays null, the interceptor puts the new path into `Location`. */
export class Created {
  constructor(readonly id: number | string) {}
}
